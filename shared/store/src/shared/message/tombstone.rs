//! Tombstones: what remains of deleted messages.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    dispatch::Dispatch,
    ids::{AttachmentId, CallId, RunId},
    limits::due,
    messages::{Deleted, DeletedBy},
};

use crate::{
    shared::message::{LongDispatch, MessageRecord},
    table::keys,
};

/// What is left elsewhere of a deleted message. A job removes it, and the tombstone is due until
/// then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Forget {
    /// The files that it named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AttachmentId>,
    /// The call of its card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// How far the job has come that looks for its readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<Looked>,
}

/// How far the job has come that looks for the readers of a deleted message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// When it last began to look.
    pub at: Time,
    /// The runs that were at work then. All others have forgotten the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<RunId>,
}

impl MessageRecord {
    /// The message after its deletion: it keeps who posted it, when and to what, and which runs it
    /// has triggered. If nobody has decided yet which agents it triggers, it triggers none.
    pub(crate) fn tombstone(&self, by: DeletedBy, now: Time) -> Self {
        let forget = Forget {
            files: self.files.iter().map(|file| file.part.attachment_id).collect(),
            call: self.card.as_ref().map(|card| card.call_id),
            looked: None,
        };
        let dispatch = self.dispatch.clone().map(without_texts);
        Self {
            rev: self.rev + 1,
            text: String::new(),
            card: None,
            files: Vec::new(),
            more_chars: 0,
            partial: false,
            asks: false,
            has_page: false,
            mentions: Vec::new(),
            reacted: false,
            deleted: Some(Deleted { at: now, by }),
            forget: Some(forget),
            updated_at: now,
            dispatch: if self.is_decided() { dispatch } else { Some(Vec::new()) },
            router: None,
            gate: None,
            gate_texts: Vec::new(),
            chain_ended: None,
            may_wake: None,
            auto_since: None,
            due: Some(keys::due(self.id.part_of(keys::DUE_PARTS))),
            due_at: Some(now + due::QUEUED),
            due_count: None,
            g2pk: None,
            g2sk: None,
            ..self.clone()
        }
    }
}

impl LongDispatch {
    /// The decision of a deleted message.
    pub(crate) fn of_tombstone(self) -> Self {
        Self { dispatch: without_texts(self.dispatch), gate: None }
    }
}

/// A decision without what the router or the gate said.
fn without_texts(dispatch: Vec<Dispatch>) -> Vec<Dispatch> {
    dispatch.into_iter().map(|it| Dispatch { reason_text: None, ..it }).collect()
}
