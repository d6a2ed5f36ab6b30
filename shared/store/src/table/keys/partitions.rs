//! The partitions of the indexes.

use smartspace_domain::ids::{EntityId, SpaceId};

/// Index partition of all entities.
pub const ENTITIES: &str = "ENTITIES";
/// Index partition of all spaces.
pub const SPACES: &str = "SPACES";

/// Index partition of an entity's spaces.
pub fn spaces_of(id: EntityId) -> String {
    format!("ENTITY#{id}#SPACES")
}

/// Index partition of an agent's runs.
pub fn runs_of_agent(id: EntityId) -> String {
    format!("AGENT#{id}#RUNS")
}

/// Index partition of an agent's deliveries.
pub fn deliveries_of(id: EntityId) -> String {
    format!("AGENT#{id}#DELIVERIES")
}

/// Index partition of a space's runs.
pub fn runs_of_space(id: SpaceId) -> String {
    format!("SPACE#{id}#RUNS")
}

/// Index partition of a space's active runs.
pub fn active_in_space(id: SpaceId) -> String {
    format!("SPACE#{id}#ACTIVE")
}

/// Index partition of due items. `part` is below [`DUE_PARTS`].
pub fn due(part: u8) -> String {
    format!("DUE#{part}")
}
