//! A person's list of mentions: the messages of the last 90 days that name or answer it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crate::mentions::MentionWhy;
use crate::{ids::SpaceId, messages::Message};

/// A message that mentions the caller, or replies to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mentioned {
    /// The space of the message.
    pub space_id: SpaceId,
    /// The name of the space.
    pub space_name: String,
    /// Why it is listed.
    pub why: MentionWhy,
    /// The message as it is now.
    pub message: Message,
}
