//! Presence: the entities that are in a space right now.

use serde::{Deserialize, Serialize};

use crate::{Time, ids::EntityId};

/// An entity that is present in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Present {
    /// The entity.
    pub entity_id: EntityId,
    /// Since when it is present, on the first of its devices.
    pub since: Time,
    /// It is no longer present after this time, unless a later event says otherwise.
    pub until: Time,
    /// It no longer types after this time, unless a later event says otherwise. Absent unless it
    /// types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typing_until: Option<Time>,
}
