//! What a message refers to, and what people and agents do with it: replies, mentions, reactions,
//! deletion.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crate::mentions::Mention;
use crate::{
    Time,
    ids::{EntityId, MessageId},
    stored::tolerant,
};

/// The message that a reply answers: its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplyTo {
    /// The parent's position in the space.
    pub seq: u64,
    /// The parent's id; null if it had expired when the reply was posted.
    #[schema(required)]
    pub message_id: Option<MessageId>,
    /// The parent's sender; null if it had expired when the reply was posted.
    #[schema(required)]
    pub sender_id: Option<EntityId>,
}

/// The reactions to a message with one emoji.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reaction {
    /// The emoji.
    pub emoji: String,
    /// How many members reacted with it.
    pub count: usize,
    /// The first 50 of them, in the order in which they reacted.
    pub entity_ids: Vec<EntityId>,
}

/// That a message is deleted. What remains of it is its tombstone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// When it was deleted.
    pub at: Time,
    /// Who deleted it.
    pub by: DeletedBy,
}

/// Who deleted a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum DeletedBy {
    /// Its sender.
    Sender,
    /// An owner of the space.
    Owner,
    /// The operator.
    Operator,
}

tolerant!(DeletedBy);
