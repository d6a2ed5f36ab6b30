//! Messages: what is kept of what was said.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    Time,
    access::KnownBy,
    dispatch::Dispatch,
    entities::EntityType,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId, StreamId},
    schemas::{self, ShownTrigger},
    steps::CallStatus,
    tools::AnswerBy,
    triggers::Trigger,
};

/// Who said it. Kept with the message: it outlives a change of name and a removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sender {
    /// The entity.
    pub id: EntityId,
    /// Its name when it spoke.
    pub name: String,
    /// Person or agent.
    #[serde(rename = "type")]
    pub kind: EntityType,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A tool call, as a card.
    Tool(Box<ToolPart>),
}

/// A tool call, as a card shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolPart {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub name: String,
    /// What it was called with.
    pub input: Value,
    /// What came of it.
    #[schema(required)]
    pub output: Option<Value>,
    /// How it stands.
    pub status: CallStatus,
    /// `form`, `buttons`, or a component that the client knows; null where nobody is asked.
    #[schema(required)]
    pub ui: Option<String>,
    /// JSON Schema of the answer.
    #[schema(required, schema_with = schemas::json_schema_or_null)]
    pub result_schema: Option<Value>,
    /// Who may answer.
    #[schema(required)]
    pub answer_by: Option<AnswerBy>,
    /// Who answered; null also where the operator did.
    #[schema(required)]
    pub resolved_by: Option<EntityId>,
    /// Until when it can be answered.
    #[schema(required)]
    pub expires_at: Option<Time>,
}

/// A message, as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Where it was said.
    pub space_id: SpaceId,
    /// Its place in the space's one order, from 1, without gaps.
    pub seq: u64,
    /// Of two states of a message the higher one holds.
    pub rev: u64,
    /// Who said it.
    pub sender: Sender,
    /// What was said.
    pub parts: Vec<Part>,
    /// The run that said it.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// The stream that it ends.
    #[schema(required)]
    pub stream_id: Option<StreamId>,
    /// How many agents' messages lie between it and a person.
    pub chain_depth: u32,
    /// Why an agent said it.
    #[schema(required)]
    pub origin: Option<Origin>,
    /// When.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// Whom it woke, and whom not and why; absent until decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Vec<Dispatch>>,
    /// Set where the text was cut to fit a frame: the whole is fetched over HTTP.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Message {
    /// Its text; of a card, how far its call is.
    pub fn text(&self) -> &str {
        self.parts
            .iter()
            .find_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::Tool(_) => None,
            })
            .unwrap_or("")
    }

    /// Who may know its origin, where not all who may read it do: one that names another space, or a plan or a service, which is the operator's to know.
    pub fn known_by(&self) -> Option<KnownBy> {
        match self.origin.as_ref()?.trigger.space_id() {
            Some(space) => (space != self.space_id).then_some(KnownBy::Members(space)),
            None => Some(KnownBy::Operator),
        }
    }

    /// The same for who may not know its origin: of that the type only.
    #[must_use]
    pub fn without_origin(mut self) -> Self {
        self.origin = self.origin.map(|origin| Origin { trigger: origin.trigger.hidden(), tools_used: Vec::new() });
        self
    }

    /// The same with its text cut to at most `bytes`, marked as truncated where that took something away. Of a card, what is longer is left out.
    #[must_use]
    pub fn cut_to(mut self, bytes: usize) -> Self {
        for part in &mut self.parts {
            if let Part::Text { text } = part
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

/// Why an agent's message was sent: what woke the run, and which tools it had used before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// What woke the run; its text is cut to 200 characters.
    #[serde(flatten)]
    #[schema(value_type = ShownTrigger)]
    pub trigger: Trigger,
    /// Names of the tools used before, in order, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_used: Vec<String>,
}

/// The first bytes of a text that is longer than `most`, with how many more there are; none of one that is not.
pub fn cut(text: &str, most: usize) -> Option<String> {
    let kept = &text[..text.floor_char_boundary(most)];
    (kept.len() < text.len()).then(|| format!("{kept} … ({} more bytes)", text.len() - kept.len()))
}

/// The first `chars` characters of a text, and how many more there were.
pub fn excerpt(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
        None => (text, 0),
    }
}
