//! The inbox: the cards that wait for a caller, in all of its spaces.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    Time,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId},
    stored::{self, tolerant},
};

/// How many cards a page of the inbox has.
pub const PAGE_CARDS: usize = 50;
/// How many characters of its question a card has there.
pub const QUESTION_CHARS: usize = 1_000;

/// A card that waits for the caller: a form that it may answer, or a call that it may decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// The message that shows the card.
    pub id: MessageId,
    /// What the card waits for.
    pub kind: InboxKind,
    /// The space of the message.
    pub space_id: SpaceId,
    /// The name of the space.
    pub space_name: String,
    /// The number of the message in its space.
    pub seq: u64,
    /// The run that waits.
    pub run_id: RunId,
    /// The call that waits.
    pub call_id: CallId,
    /// The agent that asks.
    pub agent: InboxAgent,
    /// The name of the tool.
    pub tool: String,
    /// The first text of the input, which mostly is the question: at most 1,000 characters of it.
    /// Null if the input has no text or is left out, and for a call that people decide.
    #[schema(required)]
    pub question: Option<String>,
    /// The input of the call. Null if it is longer than 4,000 characters as JSON; the message has
    /// all of it.
    #[schema(value_type = Value)]
    pub input: Value,
    /// How often people have edited the input. Absent if nobody has.
    #[serde(default, skip_serializing_if = "stored::is_default")]
    pub input_revision: u32,
    /// When the card expires.
    pub expires_at: Time,
    /// When it was posted.
    pub created_at: Time,
}

/// An agent that asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InboxAgent {
    /// Its id.
    pub id: EntityId,
    /// Its name when it asked.
    pub name: String,
}

/// What a card waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum InboxKind {
    /// An answer.
    Form,
    /// Decisions whether a call is made.
    Approval,
}

/// Whether a card waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum InboxState {
    /// It waits.
    Open,
    /// It has its answer or its last decision, it has expired, or it was canceled.
    Closed,
}

tolerant!(InboxState);
