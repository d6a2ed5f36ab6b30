//! The entities that learn on their own connections that a card waits for them.

use crate::{
    approvals::Approvers,
    events::{AskedCall, EventKind},
    ids::EntityId,
    inbox::InboxState,
    tools::AnswerBy,
};

/// How many entities learn of a card on their own connections.
const NOTIFIED: usize = 20;

/// A card that began to wait for the entities that it names, or no longer waits.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxChange {
    /// The first 20 entities that the card names.
    pub named: Vec<EntityId>,
    /// What they get.
    pub what: EventKind,
}

impl EventKind {
    /// The change of the inbox of the entities that a card names. `None` if the event opens and
    /// closes no card, or if the card names nobody.
    pub fn inbox_change(&self) -> Option<InboxChange> {
        let (asked, state) = match self {
            Self::ToolRequested(asked) => (asked, InboxState::Open),
            Self::ToolResolved(asked) => (asked, InboxState::Closed),
            _ => return None,
        };
        let named: Vec<_> = asked.named().iter().copied().take(NOTIFIED).collect();
        let what = Self::Inbox { call_id: asked.call_id, state };
        (!named.is_empty()).then_some(InboxChange { named, what })
    }
}

impl AskedCall {
    fn named(&self) -> &[EntityId] {
        if let Some(approval) = &self.approval {
            return match &approval.by {
                Approvers::Entities(named) => named,
                Approvers::Group(_) => &[],
            };
        }
        match &self.answer_by {
            Some(AnswerBy::Entities(named)) => named,
            Some(AnswerBy::Group(_)) | None => &[],
        }
    }
}
