//! Calls that people have approved. Such a call is stored before it is made, so whoever makes it
//! uses the approval up: only one write finds the call approved and not begun.

use serde_json::json;
use smartspace_domain::{
    Time,
    approvals::ApprovalState,
    ids::{MessageId, RunId},
    steps::CallStatus,
};

use crate::{
    Result,
    runs::{
        card_ref::CardRef,
        steps::{CallRecord, records::OPTIONAL},
    },
    table::write::Write,
};

impl CallRecord {
    /// Whether people have to decide the call.
    pub fn is_waiting(&self) -> bool {
        self.has_not_begun(ApprovalState::Open)
    }

    /// Whether people have approved the call and nobody has made it yet.
    pub fn is_approved(&self) -> bool {
        self.has_not_begun(ApprovalState::Approved)
    }

    fn has_not_begun(&self, state: ApprovalState) -> bool {
        self.status == CallStatus::Pending
            && !self.is_external
            && self.approval.as_ref().is_some_and(|approval| approval.state == state)
    }

    /// The message that the call has posted, if it posts one. The first message of an approved call
    /// is its card.
    pub fn message_id(&self) -> MessageId {
        if self.approval.is_some() {
            MessageId::of_approved_call(self.call_id)
        } else {
            MessageId::of_call(self.call_id)
        }
    }

    /// Whether this is the beginning of an approved external call, or the result of another
    /// approved call.
    pub(crate) fn uses_approval(&self) -> bool {
        let is_first = self.is_external == (self.status == CallStatus::Pending);
        is_first && self.approval.as_ref().is_some_and(|it| it.state == ApprovalState::Approved)
    }

    /// Stores the call in place of its approved, unused record.
    pub(crate) fn write_approved(&self, run: RunId) -> Result<Write> {
        Write::fill(self.key(run), self, OPTIONAL)?
            .when("#status = :pending AND #approval.#state = :approved")
            .when("attribute_not_exists(#outside)")
            .value(":pending", CallStatus::Pending)?
            .value(":approved", ApprovalState::Approved)
    }

    /// Shows the result of an approved call on its card, unless the call is external: that has its
    /// card from the beginning on.
    pub(crate) fn card_writes(&self) -> Result<Vec<Write>> {
        match &self.card {
            Some(card) if self.uses_approval() && !self.is_external => {
                card.returned(self, self.finished_at)
            }
            _ => Ok(Vec::new()),
        }
    }
}

impl CardRef {
    /// Shows that people have approved a form, which is asked now on a card of its own.
    pub(crate) fn asked(&self, now: Time) -> Result<Vec<Write>> {
        self.finish(CallStatus::Completed, &json!({"approved": true}), now)
    }
}
