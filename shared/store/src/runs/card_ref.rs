//! Where the card of a call is.

use serde::{Deserialize, Serialize};
use smartspace_domain::ids::SpaceId;

/// Where a card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardRef {
    pub space: SpaceId,
    /// The number of its message.
    pub seq: u64,
    /// Whether the message has a `TEXT#` item.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_apart: bool,
}
