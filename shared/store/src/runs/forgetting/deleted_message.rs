//! A deleted message, as the runs know it that posted it or edited it.

use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId},
    jobs::MessageRef,
    json,
    tools::EDIT_MESSAGE,
};

use crate::{
    runs::{
        places::{Places, deleted_mark},
        steps::{CallBegun, CallRecord},
    },
    shared::message::MessageRecord,
};

/// A deleted message, and what identifies the calls that have its words.
#[derive(Clone, Debug)]
pub struct DeletedMessage {
    pub space_id: SpaceId,
    pub seq: u64,
    pub id: MessageId,
    pub sender: EntityId,
    /// The run that posted it.
    pub run_id: Option<RunId>,
    /// The call that its card showed.
    pub call: Option<CallId>,
    /// Whether it was ever edited.
    pub is_edited: bool,
    pub created_at: Time,
    pub deleted_at: Time,
}

impl DeletedMessage {
    /// The message of a tombstone. `None` if the message is not deleted.
    pub fn of(space_id: SpaceId, record: &MessageRecord) -> Option<Self> {
        Some(Self {
            space_id,
            seq: record.seq,
            id: record.id,
            sender: record.sender.id,
            run_id: record.run_id,
            call: record.forget.as_ref().and_then(|forget| forget.call),
            is_edited: record.edited_at.is_some(),
            created_at: record.created_at,
            deleted_at: record.deleted?.at,
        })
    }

    /// Whether a call of its run posted it, or was shown by its card.
    fn is_of(&self, call: CallId) -> bool {
        let ids = [MessageId::of_call(call), MessageId::of_approved_call(call)];
        self.call == Some(call) || ids.contains(&self.id)
    }

    /// Whether a call with a result posted it. The messages of remote agents have ids of their own.
    pub(super) fn is_sent_by(&self, call: &CallRecord) -> bool {
        let this = MessageRef { space_id: self.space_id, seq: self.seq };
        call.sent_to() == Some(this) || self.is_of(call.call_id)
    }

    /// Whether a call edited it.
    pub(super) fn is_edited_by(&self, begun: &CallBegun, record: Option<&CallRecord>) -> bool {
        let Some(record) = record else { return false };
        let is_this = |input: &Value| input["seq"] == self.seq;
        // People may have edited the input before they approved the call.
        let decided = record.approval.as_ref().and_then(|approval| approval.input.as_ref());
        begun.name == EDIT_MESSAGE
            && record.active_space == Some(self.space_id)
            && (decided.is_some_and(is_this)
                || json::parse_written(&begun.input).is_ok_and(|input| is_this(&input)))
    }

    /// Removes the words of the message from the input of a call that posted or edited it.
    pub(super) fn cut_input(&self, begun: &mut CallBegun, record: Option<&CallRecord>) {
        let mark = deleted_mark(self.seq);
        if self.is_of(begun.call_id) {
            begun.input = json!({"text": mark}).to_string();
        } else if self.is_edited_by(begun, record) {
            begun.input = json!({"seq": self.seq, "text": mark}).to_string();
        }
    }

    /// Removes the words of the message from the record of a call, which has a result.
    pub(super) fn cut_result(&self, begun: Option<&CallBegun>, call: &mut CallRecord) {
        let mark = deleted_mark(self.seq);
        let is_sent = self.is_sent_by(call);
        let is_edit = begun.is_some_and(|begun| self.is_edited_by(begun, Some(&*call)));
        if let Some(approval) = &mut call.approval
            && approval.input.is_some()
            && (is_sent || is_edit)
        {
            let input = if is_edit { json!({"seq": self.seq, "text": mark}) } else { json!({}) };
            approval.input = Some(input);
        }
        if !is_sent {
            return;
        }
        if let Some(sent) = &mut call.sent_excerpt {
            *sent = mark;
            return;
        }
        call.output = Value::String(mark);
        call.places = Places::default();
        call.files.clear();
    }
}
