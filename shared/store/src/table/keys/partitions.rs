//! The partitions of the indexes.

use smartspace_domain::{
    Time,
    days::Day,
    ids::{EntityId, SpaceId},
};

/// Index partition of all entities.
pub const ENTITIES: &str = "ENTITIES";
/// Index partition of all spaces.
pub const SPACES: &str = "SPACES";
/// Index partition of all spaces by activity: their heads.
pub const SPACES_BY_ACTIVITY: &str = "SPACES#ACTIVITY";

/// The index sort key of a space in which something happened at a time.
pub fn active_space(at: Time, space: SpaceId) -> String {
    format!("{at}#{space}")
}

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

/// Index partition of a space's allowances.
pub fn allowances_of(id: SpaceId) -> String {
    format!("SPACE#{id}#ALLOWANCES")
}

/// How many partitions the index of all runs has for each day.
pub const RUN_PARTS: u8 = 16;

/// Index partition of the runs of all agents that were triggered on a day. `part` is below
/// [`RUN_PARTS`].
pub fn runs_of_day(day: Day, part: u8) -> String {
    format!("RUNS#{day}#{part:02}")
}

/// Index partition of a space's runs.
pub fn runs_of_space(id: SpaceId) -> String {
    format!("SPACE#{id}#RUNS")
}

/// Index partition of a space's active runs.
pub fn active_in_space(id: SpaceId) -> String {
    format!("SPACE#{id}#ACTIVE")
}

/// How many partitions the index of open cards has.
pub const OPEN_PARTS: u8 = 16;

/// Index partition of the open cards of some spaces, by their expiry. `part` is below
/// [`OPEN_PARTS`].
pub fn open_cards(part: u8) -> String {
    format!("OPEN#{part}")
}

/// The index sort key of an open card that expires at `until`.
pub fn open_card(until: Time, space: SpaceId, seq: u64) -> String {
    format!("{until}#{space}#{seq:012}")
}

/// Index partition of due items. `part` is below [`DUE_PARTS`].
pub fn due(part: u8) -> String {
    format!("DUE#{part}")
}
