//! Messages, as they are stored and as the API shows them.

mod reactions;
mod relations;
mod resolved_by;
mod text;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    Time,
    approvals::Approval,
    attachments::FilePart,
    callers::KnownBy,
    dispatch::{ChainEnded, Dispatch, Routed},
    gate::Gate,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId, StreamId},
    schemas,
    steps::CallStatus,
    stored,
    tools::AnswerBy,
    triggers::{ShownTrigger, Trigger},
};
pub use crate::{
    identity::Sender,
    messages::{
        reactions::{Emoji, Reactions},
        relations::{Deleted, DeletedBy, Mention, Reaction, ReplyTo},
        resolved_by::{OperatorKind, ResolvedBy},
        text::MessageText,
    },
    texts::{cut, excerpt},
};

/// What an entity takes in a list of those who reacted, in bytes.
const ENTITY_BYTES: usize = 34;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// True if the run was canceled while its model wrote the text, or if the text was cut at
        /// `maxOutputTokens`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    /// A tool call, shown as a card.
    Tool(Box<ToolPart>),
    /// A file.
    File(FilePart),
}

/// A tool call on a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolPart {
    /// The call's id.
    pub call_id: CallId,
    /// The tool's name.
    pub name: String,
    /// The tool's `title` with the values of this call, on one line; null if the tool has none.
    #[schema(required)]
    pub title: Option<String>,
    /// The call's input. If it is partial, a text as far as the model wrote it.
    pub input: Value,
    /// True if the run was canceled while its model wrote the input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The call's result; null while there is none.
    #[schema(required)]
    pub output: Option<Value>,
    /// The call's status.
    pub status: CallStatus,
    /// `form`, `buttons`, or a component that your client knows; null if the card is not a form.
    #[schema(required)]
    pub ui: Option<String>,
    /// JSON Schema of the form's answer.
    #[schema(required, schema_with = schemas::json_schema)]
    pub result_schema: Option<Value>,
    /// Who may answer the form.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[schema(required)]
    pub answer_by: Option<AnswerBy>,
    /// Who answered the form.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[schema(required)]
    pub resolved_by: Option<ResolvedBy>,
    /// When the form expires.
    #[schema(required)]
    pub expires_at: Option<Time>,
    /// The approvals of the call; absent unless it waits, or has waited, for approval.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The member whose client runs the call; absent unless the tool is one of that member's page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_of: Option<EntityId>,
}

/// A message in a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The message's id.
    pub id: MessageId,
    /// The message's space.
    pub space_id: SpaceId,
    /// The message's position in the space: from 1, without gaps.
    pub seq: u64,
    /// The revision of the message. Of two states the higher one is newer.
    pub rev: u64,
    /// The sender, with its name at the time of posting.
    pub sender: Sender,
    /// The content: one text part, or a card's tool part, perhaps with a text part; then files.
    pub parts: Vec<Part>,
    /// The run that posted the message.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// The stream that the message replaces.
    #[schema(required)]
    pub stream_id: Option<StreamId>,
    /// The `Idempotency-Key` that its sender posted it with; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key: Option<String>,
    /// How many runs lie between the message and its first cause.
    pub chain_depth: u32,
    /// Why a run posted the message; null if no run did.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[schema(required)]
    pub origin: Option<Origin>,
    /// The members that its text mentions, in the order of the text; absent without mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// The message that it replies to; absent if it replies to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<ReplyTo>,
    /// The first message of the chain of replies that it belongs to; absent if it replies to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    /// When its sender last edited it; absent if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Time>,
    /// The reactions to it, in the order of their first ones; absent without reactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    /// The revision of its reactions. Of two states the higher one is newer. Absent if nobody ever
    /// reacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reactions_rev: Option<u64>,
    /// Set if the message is deleted: it is then a tombstone without content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Deleted>,
    /// When the message was posted.
    pub created_at: Time,
    /// When the message last changed.
    pub updated_at: Time,
    /// The decision for each other agent; absent until it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Vec<Dispatch>>,
    /// The question to the space's router; absent if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<Routed>,
    /// What the gate said about the message. Only the operator and the owners of the space read it.
    /// Absent if the space had no gate then.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// The limit that ends a chain of agents' messages with this one: the message would have
    /// triggered others but for it, and triggers nobody. Absent otherwise.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_ended: Option<ChainEnded>,
    /// True if the message was cut to fit a frame. Fetch the whole message over HTTP.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Message {
    /// The message's text. For a card this is the call's progress.
    pub fn text(&self) -> &str {
        self.parts
            .iter()
            .find_map(|part| match part {
                Part::Text { text, .. } => Some(text.as_str()),
                Part::Tool(_) | Part::File(_) => None,
            })
            .unwrap_or("")
    }

    /// Whether the model did not write it to its end.
    pub fn is_partial(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Text { partial, .. } => *partial,
            Part::Tool(tool) => tool.partial,
            Part::File(_) => false,
        })
    }

    /// Who may see the parts of the message that not every reader may see. The origin may name
    /// another space, or a plan or a service, which only the operator may see; what the router
    /// costs, and the scores of the gate, are for the owners of the space.
    pub fn known_by(&self) -> Vec<KnownBy> {
        let origin = self.origin.as_ref().and_then(|origin| match origin.trigger.space_id() {
            Some(space) => (space != self.space_id).then_some(KnownBy::Members(space)),
            None => Some(KnownBy::Operator),
        });
        let has_more = self.router.is_some() || self.gate.is_some();
        let of_owners = has_more.then_some(KnownBy::Owners(self.space_id));
        origin.into_iter().chain(of_owners).collect()
    }

    /// The message for readers who are not among `known_by`, one of [`Self::known_by`].
    #[must_use]
    pub fn for_others_than(self, known_by: KnownBy) -> Self {
        match known_by {
            KnownBy::Owners(_) => self.without_owners_part(),
            KnownBy::Members(_) | KnownBy::Operator => self.without_origin(),
        }
    }

    /// The message for readers who may know neither what its router costs nor the scores of the
    /// gate.
    #[must_use]
    pub fn without_owners_part(self) -> Self {
        Self { router: self.router.map(Routed::without_usage), gate: None, ..self }
    }

    /// The message for readers who may not see its origin: they see the origin's type only.
    #[must_use]
    pub fn without_origin(mut self) -> Self {
        self.origin = self
            .origin
            .map(|origin| Origin { trigger: origin.trigger.hidden(), tools_used: Vec::new() });
        self
    }

    /// The message with its text cut to at most `bytes`. Long values of a card become null. If
    /// anything is cut, the message is marked as truncated.
    #[must_use]
    pub fn cut_to(mut self, bytes: usize) -> Self {
        // The counts say how many there are, so nothing is missing for a reader.
        cut_reactions(&mut self.reactions, bytes);
        for part in &mut self.parts {
            if let Part::Text { text, .. } = part
                && text.len() > bytes
            {
                text.truncate(text.floor_char_boundary(bytes));
                self.truncated = true;
            }
            if let Part::Tool(tool) = part {
                let is_long = |value: &Value| value.to_string().len() > bytes / 3;
                if is_long(&tool.input) {
                    tool.input = Value::Null;
                    self.truncated = true;
                }
                for value in [&mut tool.output, &mut tool.result_schema] {
                    if value.as_ref().is_some_and(is_long) {
                        *value = None;
                        self.truncated = true;
                    }
                }
            }
        }
        self
    }
}

/// Cuts the lists of those who reacted, so that together they take at most `bytes`. The counts
/// stay.
pub(crate) fn cut_reactions(reactions: &mut [Reaction], bytes: usize) {
    let most = bytes / ENTITY_BYTES / reactions.len().max(1);
    for reaction in reactions {
        reaction.entity_ids.truncate(most);
    }
}

/// Why a run posted a message: the run's trigger, and the tools that it had used before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The run's trigger without its payload and without the text of its message. Other texts are
    /// cut to 200 characters.
    #[serde(flatten)]
    #[schema(value_type = ShownTrigger)]
    pub trigger: Trigger,
    /// The names of the tools that the run had used before, in order, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_used: Vec<String>,
}
