//! A message before it is stored.

use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{CallId, EntityId, LeaseId, MessageId, RunId, SpaceId, StreamId},
    messages::{MessageText, Origin},
    steps::CallStatus,
    tools::AnswerBy,
};

use crate::{
    idempotency::PostKey,
    messages::{Apart, Asks, CutJson, ToolCard},
    runs::steps::CallRecord,
};

/// A message to be stored.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Its id, made before the first try. A repeated write recognizes its own message by it.
    pub id: MessageId,
    /// The space that it is sent to.
    pub space: SpaceId,
    /// Its sender, who must be a member.
    pub sender: EntityId,
    /// Its content.
    pub content: Content,
    /// How it came to be sent.
    pub by: MessageSource,
}

/// The content of a message.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text.
    Text(MessageText),
    /// A tool call. It triggers nobody.
    Card(Box<NewCard>),
}

/// A tool call to be shown as a card.
#[derive(Clone, Debug)]
pub struct NewCard {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub name: String,
    /// The input of the call.
    pub input: Value,
    /// The output of the call, if it is known.
    pub output: Option<Value>,
    /// The status of the call.
    pub status: CallStatus,
    /// The question to people, if the call is a form.
    pub asks: Option<NewForm>,
}

/// A question to people.
#[derive(Clone, Debug)]
pub struct NewForm {
    /// How clients render the form.
    pub ui: String,
    /// The JSON Schema of an answer. Any answer fits if it is `None`.
    pub result_schema: Option<Value>,
    /// The people who may answer.
    pub answer_by: AnswerBy,
    /// When the form expires.
    pub until: Time,
}

impl NewCard {
    /// Divides the card into the part stored in the message and the parts too long for it.
    pub(super) fn split(&self) -> (ToolCard, Apart) {
        let (input, whole_input) = CutJson::of(&self.input);
        let output = self.output.as_ref().map(CutJson::of);
        let (output, whole_output) =
            output.map_or((None, None), |(output, whole)| (Some(output), whole));
        let asks = self.asks.as_ref().map(|form| Asks {
            ui: form.ui.clone(),
            has_schema: form.result_schema.is_some(),
            answer_by: form.answer_by.clone(),
            until: form.until,
            resolved_by: None,
        });
        let result_schema =
            self.asks.as_ref().and_then(|form| form.result_schema.as_ref()).map(Value::to_string);
        let card = ToolCard {
            call_id: self.call_id,
            name: self.name.clone(),
            input,
            output,
            status: self.status,
            asks,
        };
        let apart = Apart { text: None, input: whole_input, output: whole_output, result_schema };
        (card, apart)
    }
}

/// How a message came to be sent.
#[derive(Clone, Debug)]
pub enum MessageSource {
    /// By a request to the HTTP or WebSocket API.
    External {
        /// The caller's idempotency key.
        key: Option<PostKey>,
        /// The chain depth that the caller claims.
        depth: u32,
    },
    /// By a tool of a run.
    Run(Box<ByRun>),
}

/// The run and the call that send a message.
#[derive(Clone, Debug)]
pub struct ByRun {
    /// The run.
    pub run: RunId,
    /// The worker's lease.
    pub lease: LeaseId,
    /// The run's depth plus one.
    pub depth: u32,
    /// Why the agent sends the message.
    pub origin: Origin,
    /// The stream that the message ends.
    pub stream: StreamId,
    /// The call and its result. Storing them in the same transaction makes the call happen once.
    pub call: CallRecord,
}
