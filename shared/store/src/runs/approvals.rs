//! Calls that wait for approval. Such a call is a form whose card people decide.
//!
//! A decision is one transaction: of the call, whose `revision` says that no other decision was
//! stored meanwhile, of the card, and of the run. After the last approval the call is still
//! pending, but not open: the run has one open call less and is due, and its worker makes the call.

use smartspace_domain::{
    Time,
    approvals::{Allowance, ApprovalState, DecisionAction, MadeDecision},
    runs::RunStatus,
    steps::CallStatus,
};

pub use crate::runs::call_approval::{CallApproval, FormApproval};
use crate::{
    Error, Forms, Result,
    runs::{
        cards::{CardRef, NO_LONGER_OPEN, OpenCall},
        forms::due_write,
        steps::CallRecord,
    },
    shared::message::{CutJson, Overflow},
    table::{WriteError, keys, write::Write},
};

/// The outcome of storing an approval.
#[derive(Clone, Debug, PartialEq)]
pub enum Approved {
    Now,
    /// The call has changed since it was read.
    Changed(Box<CallRecord>),
    RunOver,
}

impl CallRecord {
    /// Whether the call has a form that nobody has answered, or waits for approval.
    pub fn waits_for_people(&self) -> bool {
        let is_open = |it: &CallApproval| it.state == ApprovalState::Open;
        self.status == CallStatus::Pending
            && !self.is_external
            && self.approval.as_ref().is_none_or(is_open)
    }
}

impl Forms<'_> {
    /// Stores an approval of a call, perhaps with another input. After the last one the run is due.
    /// `remembered` is stored with it.
    pub async fn approve(
        self,
        open: &OpenCall,
        approval: &CallApproval,
        remembered: Option<&Allowance>,
        now: Time,
    ) -> Result<Approved> {
        let item_key = keys::call(open.run_id, open.step, open.index);
        let call = Write::update(item_key.clone(), "SET #approval = :approval");
        let mut writes = vec![approval.replaces(call)?, run_write(open, approval, now)?];
        if let Some(allowance) = remembered {
            writes.extend(self.store.allowances().writes(allowance, now).await?);
        }
        let mut card = open.card.approved(approval, now)?;
        loop {
            writes.append(&mut card);
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(Approved::Now),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if refusal.names(&item_key) {
                let call: CallRecord = refusal
                    .existing(&item_key)
                    .ok_or_else(|| Error::NotFound("the call is gone".into()))?;
                let stored = call.approval.as_ref().and_then(|stored| stored.token.as_ref());
                let is_ours = stored.is_some() && stored == approval.token.as_ref();
                return Ok(if is_ours { Approved::Now } else { Approved::Changed(Box::new(call)) });
            }
            if refusal.names(&keys::run_meta(open.run_id)) {
                return Ok(Approved::RunOver);
            }
            // The card was deleted with its space. The approval is stored without it.
            writes.retain(|write| !open.card.is_part(&write.key));
        }
    }
}

/// The write of the run: after the last approval it has one open call less and is due.
fn run_write(open: &OpenCall, approval: &CallApproval, now: Time) -> Result<Write> {
    if approval.state == ApprovalState::Approved {
        // If the run ends before it makes the call, this finds the call.
        return due_write(open.run_id, "#hasApproved = :true, ", now)?.value(":true", true);
    }
    Write::check(keys::run_meta(open.run_id))
        .when("#status IN (:running, :waiting)")
        .value(":running", RunStatus::Running)?
        .value(":waiting", RunStatus::WaitingTool)
}

impl CardRef {
    /// Writes the approvals of a call, and its new input if the last one was an edit.
    fn approved(&self, approval: &CallApproval, now: Time) -> Result<Vec<Write>> {
        let is_edit = |made: &MadeDecision| made.action == DecisionAction::Edit;
        let edited =
            approval.input.as_ref().filter(|_| approval.decisions.last().is_some_and(is_edit));
        let (input, whole) = edited.map(CutJson::of).unzip();
        let also = if input.is_some() { ", #card.#input = :input" } else { "" };
        let is_last = approval.state == ApprovalState::Approved;
        let end = if is_last { NO_LONGER_OPEN } else { "" };
        let expression = format!(
            "SET #card.#asks.#approval = :approval{also}, #rev = #rev + :one, #updatedAt = :now \
             {end}"
        );
        let card = Write::update(self.message(), expression)
            .value(":approval", approval.shown())?
            .value(":one", 1)?
            .value(":now", now)?;
        let Some(input) = input else { return Ok(vec![card]) };
        let card = card.value(":input", input)?;
        let rest = match whole.flatten() {
            Some(input) if self.is_apart => {
                Write::update(self.overflow(), "SET #input = :input").value(":input", input)?
            }
            Some(input) => {
                let overflow = Overflow { input: Some(input), ..Overflow::default() };
                Write::fill(self.overflow(), &overflow, &[])?
            }
            // A longer input before it.
            None if self.is_apart => Write::update(self.overflow(), "REMOVE #input"),
            None => return Ok(vec![card]),
        };
        Ok(vec![card, rest])
    }

    /// Whether an item is a part of the card.
    fn is_part(&self, key: &keys::Key) -> bool {
        *key == self.message() || *key == self.overflow()
    }
}
