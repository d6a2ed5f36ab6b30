//! The answer to a search, as the API and tools show it, and its cursor.

pub mod cursor;
pub mod place;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Time,
    ids::{MessageId, SpaceId},
    messages::Sender,
    search::Span,
};

/// The items of a search that one call has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchAnswer {
    /// The found messages in the order of `sort`. There may be fewer than `limit` although more
    /// follow.
    pub items: Vec<FoundMessage>,
    /// What this call has searched.
    pub searched: Searched,
    /// True if there are older messages or other spaces that this call has not searched.
    pub incomplete: bool,
    /// The words of the query that were ignored, because it has too many; absent if all count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// The cursor of the next items. Null if there are no more.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A message that a search has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundMessage {
    /// The space of the message.
    pub space_id: SpaceId,
    /// The name of the space.
    pub space_name: String,
    /// The message's id.
    pub message_id: MessageId,
    /// The message's number in the space.
    pub seq: u64,
    /// When the message was posted.
    pub at: Time,
    /// The sender, with its name at the time of posting.
    pub sender: Sender,
    /// Up to 300 characters of the text around the best place.
    pub excerpt: String,
    /// The found words and phrases in `excerpt`, in its order.
    pub matches: Vec<Span>,
    /// The names of its files.
    pub files: Vec<String>,
    /// How well the message fits the query.
    pub score: f64,
    /// The numbers of other found messages that this item includes, because they are at most two
    /// numbers apart.
    pub also_seqs: Vec<u64>,
    /// Up to two messages before it, oldest first.
    pub before: Vec<Neighbour>,
    /// Up to two messages after it, oldest first.
    pub after: Vec<Neighbour>,
}

/// A message before or after a found one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Neighbour {
    /// The message's id.
    pub message_id: MessageId,
    /// The message's number in the space.
    pub seq: u64,
    /// When the message was posted.
    pub at: Time,
    /// The sender, with its name at the time of posting.
    pub sender: Sender,
    /// Up to 200 characters of its text.
    pub text: String,
}

/// What one call of a search has searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Searched {
    /// How many spaces.
    pub spaces: usize,
    /// How many messages.
    pub messages: u64,
    /// Messages from this time on. Null if there are none.
    #[schema(required)]
    pub from: Option<Time>,
}
