//! Steps and calls as they are stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{CallId, LeaseId, RunId, SpaceId},
    jobs::MessageRef,
    messages::Sender,
    runs::{EndReason, Usage},
    steps::{CallStatus, FinishReason, ResponseOrigin, SystemMessage},
};

use crate::{
    Result,
    runs::{
        awaited_input::AwaitedInput, call_approval::CallApproval, card_ref::CardRef, marks::Marks,
        places::Places,
    },
    shared::message::MessageFile,
    table::{keys, write::Write},
};

/// A finished model answer, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRecord {
    pub index: u32,
    /// The run's attempt that made it.
    pub attempt: u32,
    /// The number of the try that gave the answer. The names of its calls' streams contain it.
    pub stream_attempt: u32,
    /// The lease under which it was stored: the token that detects a lost answer.
    pub lease: LeaseId,
    /// The revision of the agent with which it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_revision: Option<u64>,
    /// `provider/model`.
    pub model: String,
    /// Where the answer comes from.
    #[serde(default, skip_serializing_if = "ResponseOrigin::is_unknown")]
    pub origin: ResponseOrigin,
    /// The text of the answer. No space shows it.
    pub text: String,
    /// The calls of the answer.
    pub calls: Vec<CallBegun>,
    /// The system messages before it.
    pub system_messages: Vec<SystemMessage>,
    /// Where these messages have words of messages of spaces, by their positions.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    /// How far these messages read in each space.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
    /// Up to which value of `HEAD.changed` they show the changes of each space's messages.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub changed: Marks,
    /// How many of the run's oldest results the question cut.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_results: u32,
    /// How many of the run's oldest answers the question sent without their opaque marks.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_opaque: u32,
    /// What only the model understands, such as its thinking with a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
    /// Whether the run was canceled while the model wrote the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Why the model stopped.
    pub finish_reason: FinishReason,
    /// The tokens that it used.
    pub usage: Usage,
    /// When the model was asked.
    pub started_at: Time,
    /// When the first part of the answer arrived.
    pub first_token_at: Option<Time>,
    /// When the answer was complete.
    pub finished_at: Time,
    /// When its item expires, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

impl StepRecord {
    /// Removes what only the model of the answer understands.
    pub(in crate::runs) fn forget_model(&mut self) {
        self.opaque = None;
        self.calls.iter_mut().for_each(|call| call.provider_id.clear());
    }

    /// Whether members may read what a watcher said before the step.
    pub(in crate::runs) fn has_hints(&self) -> bool {
        self.system_messages.iter().any(|message| !message.is_for_operator())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(in crate::runs) fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What a provider marks for itself in an answer, as it came. Nothing reads it but the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Opaque(#[serde(with = "crate::table::json_text")] pub Value);

/// A call as the model made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallBegun {
    pub call_id: CallId,
    pub name: String,
    /// The input as the model wrote it.
    pub input: String,
    /// The provider's own id of the call. Empty if it gave none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider_id: String,
}

/// Messages of a space that a run was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPage {
    pub space: SpaceId,
    pub first: u64,
    pub last: u64,
    /// The last message that the agent had read before.
    pub cursor: u64,
}

/// A finished call, or a begun one that is a form or an external call, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    pub call_id: CallId,
    /// The step that made it.
    pub step: u32,
    /// Its position in the step.
    pub index: u32,
    pub name: String,
    #[serde(with = "crate::table::json_text")]
    pub output: Value,
    /// Where the output has words of messages.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    pub status: CallStatus,
    /// When it began.
    pub started_at: Time,
    /// When it ended.
    pub finished_at: Time,
    /// The reason with which it ends the run, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<EndReason>,
    /// The space that is active after it, if it changes that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_space: Option<SpaceId>,
    /// How far it has read in each space.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
    /// `HEAD.changed` of the space that it has entered, before it read the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    /// The messages that it showed. There may be unread messages before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<ShownPage>,
    /// The first 200 characters of the message that it sent to the active space.
    #[serde(default, rename = "said", skip_serializing_if = "Option::is_none")]
    pub sent_excerpt: Option<String>,
    /// The number of that message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_seq: Option<u64>,
    /// The origin of its result, if it is a form.
    #[serde(default, rename = "answered", skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerOrigin>,
    /// Whether it is an external call: stored when it begins, and again with its result.
    #[serde(default, rename = "outside", skip_serializing_if = "std::ops::Not::not")]
    pub is_external: bool,
    /// Whether its tool may be called again if the outcome is unknown, as of its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// Its card, if that was shown before the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<CardRef>,
    /// The space of its card, if no space triggered the run: the run is shown there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_in: Option<SpaceId>,
    /// The decisions of people, if a rule of the agent stopped the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<CallApproval>,
    /// What it waits for, if its server has asked for an input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaits: Option<Box<AwaitedInput>>,
    /// The pictures that it has returned, or the files of its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<CallFile>,
    /// Its usage, if it asked a model that makes pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<CallUsage>,
    /// When its item expires, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// The attributes of a call that may be absent.
pub(super) const OPTIONAL: &[&str] = &[
    "ends",
    "activeSpace",
    "marks",
    "changed",
    "page",
    "places",
    "said",
    "sentSeq",
    "answered",
    "outside",
    "repeatable",
    "card",
    "shownIn",
    "approval",
    "awaits",
    "files",
    "used",
    "expiresAt",
];

/// A picture that a call has returned, or a file of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFile {
    /// The space that keeps it.
    pub space_id: SpaceId,
    /// The text that the model reads before it. Empty for a file of an answer.
    pub label: String,
    #[serde(flatten)]
    pub file: MessageFile,
}

/// The usage of a call that asked a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallUsage {
    /// `provider/model`.
    pub model: String,
    pub usage: Usage,
}

/// The origin of a form's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOrigin {
    /// The label of the caller who answered. Empty if the form expired or its run ended.
    pub by: String,
    /// The entity that answered, with its name at that time. `None` if the operator or nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
    /// The token of the request that resolved it.
    pub token: LeaseId,
}

impl CallRecord {
    /// A completed call of a step, with no output and no effect on its run.
    pub fn completed(call_id: CallId, step: u32, index: u32, name: String, now: Time) -> Self {
        Self {
            call_id,
            step,
            index,
            name,
            output: Value::Null,
            places: Places::default(),
            status: CallStatus::Completed,
            started_at: now,
            finished_at: now,
            ends: None,
            active_space: None,
            marks: Marks::new(),
            changed: None,
            page: None,
            sent_excerpt: None,
            sent_seq: None,
            answer: None,
            is_external: false,
            repeatable: false,
            card: None,
            shown_in: None,
            approval: None,
            awaits: None,
            files: Vec::new(),
            used: None,
            expires_at: None,
        }
    }

    /// Whether it is an external call whose outcome is unknown so far.
    pub fn is_under_way(&self) -> bool {
        self.is_external && self.status == CallStatus::Pending
    }

    /// The spaces in which the call shows its run, if no space triggered that: the one that is
    /// active after it, and the one of its card.
    pub fn shows_run_in(&self) -> impl Iterator<Item = SpaceId> {
        self.active_space.into_iter().chain(self.shown_in)
    }

    /// The message that it sent, if it sent one.
    pub fn sent_to(&self) -> Option<MessageRef> {
        Some(MessageRef { space_id: self.active_space?, seq: self.sent_seq? })
    }

    pub(crate) fn key(&self, run: RunId) -> keys::Key {
        keys::call(run, self.step, self.index)
    }

    pub(crate) fn write(&self, run: RunId) -> Result<Write> {
        if self.uses_approval() {
            return self.write_approved(run);
        }
        if self.is_external && self.status != CallStatus::Pending {
            let write = Write::fill(self.key(run), self, OPTIONAL)?;
            return write.when("#status = :pending").value(":pending", CallStatus::Pending);
        }
        Ok(Write::put(self.key(run), self)?.if_absent())
    }
}
