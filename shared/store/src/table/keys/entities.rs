//! The items of entities, including the state of agents.

use smartspace_domain::ids::{
    AllowanceId, ConnectionId, EntityId, MessageId, PlanId, RunId, SpaceId,
};

use crate::table::keys::{CONN, Key, hash};

/// The partition of an entity.
pub fn entity(id: EntityId) -> String {
    format!("ENTITY#{id}")
}

/// The credential of a guest.
pub fn guest(id: EntityId) -> Key {
    Key::new(entity(id), "GUEST")
}

/// The prefix of an agent's allowances. It sorts before the range of an agent's context.
pub const ALLOWANCE: &str = "ALLOW#";

/// An allowance of an agent.
pub fn allowance(agent: EntityId, id: AllowanceId) -> Key {
    Key::new(entity(agent), format!("{ALLOWANCE}{id}"))
}

/// The item that names the agent of an allowance.
pub fn allowance_owner(id: AllowanceId) -> Key {
    Key::new(format!("{ALLOWANCE}{id}"), "META")
}

/// A connection of an entity's own. It sorts before the entity's context.
pub fn own_connection(id: EntityId, connection: &ConnectionId) -> Key {
    Key::new(entity(id), format!("{CONN}{connection}"))
}

/// The partition of the operator's connections.
pub const OPERATOR: &str = "OPERATOR";

/// A connection of the operator.
pub fn operators_connection(connection: &ConnectionId) -> Key {
    Key::new(OPERATOR, format!("{CONN}{connection}"))
}

/// An entity and, for an agent, its configuration.
pub fn entity_meta(id: EntityId) -> Key {
    Key::new(entity(id), "META")
}

/// The prefix of an agent's revisions. They sort after the range of an agent's context.
pub const REVISION: &str = "REV#";

/// A revision of an agent.
pub fn revision(agent: EntityId, number: u64) -> Key {
    Key::new(entity(agent), format!("{REVISION}{number:012}"))
}

/// The part of an agent's configuration that a dispatch reads.
pub fn gate(agent: EntityId) -> Key {
    Key::new(entity(agent), "GATE")
}

/// The slots of an agent. They sort after the range of an agent's context.
pub fn slots(agent: EntityId) -> Key {
    Key::new(entity(agent), "SLOTS")
}

/// A space that an agent is in. In the range of the agent's context.
pub fn agent_space(agent: EntityId, space: SpaceId) -> Key {
    Key::new(entity(agent), format!("{AGENT_SPACE}{space}"))
}

/// An active run of an agent. In the range of the agent's context, and first in it.
pub fn active_run(agent: EntityId, run: RunId) -> Key {
    Key::new(entity(agent), format!("{ACTIVE_RUN}{run}"))
}

/// The prefix of an agent's memories.
pub const MEMORY: &str = "CTX#MEMORY#";
/// The prefix of an agent's goals.
pub const GOAL: &str = "CTX#GOAL#";

/// A memory of an agent. In the range of the agent's context.
pub fn memory(agent: EntityId, key: &str) -> Key {
    Key::new(entity(agent), format!("{MEMORY}{key}"))
}

/// A goal of an agent. In the range of the agent's context.
pub fn goal(agent: EntityId, id: &str) -> Key {
    Key::new(entity(agent), format!("{GOAL}{id}"))
}

/// The prefix of an agent's plans.
pub const PLAN: &str = "CTX#PLAN#";

/// A plan of an agent. In the range of the agent's context.
pub fn plan(agent: EntityId, id: PlanId) -> Key {
    Key::new(entity(agent), format!("{PLAN}{id}"))
}

/// The version of an agent's memories, goals and plans. Every change raises it, so that their
/// number stays below its limit. In the range of the agent's context.
pub fn state_version(agent: EntityId) -> Key {
    Key::new(entity(agent), "CTX#KEPT")
}

/// The prefix of an agent's active runs.
pub const ACTIVE_RUN: &str = "CTX#ACTIVE#";
/// The prefix of an agent's spaces.
pub const AGENT_SPACE: &str = "CTX#SPACE#";
/// The range of an agent's partition that is read for a prompt: all of `CTX#`, `GATE` and `META`.
/// Items that a prompt does not need must not sort between them. Only the active runs have no
/// limit, so they sort first and are read last.
pub const CONTEXT: (&str, &str) = ("CTX#", "META");

/// The partition of the messages that name a person. A list of 90 days does not share the
/// entity's own.
pub fn mentions(person: EntityId) -> String {
    format!("MENTIONS#{person}")
}

/// A message that names a person.
pub fn mention(person: EntityId, message: MessageId) -> Key {
    Key::new(mentions(person), message.to_string())
}

/// The prefix of the spaces that an entity has left, while something must still follow. It sorts
/// after the range of an agent's context.
pub const PARTING: &str = "PARTING#";

/// A space that an entity has left, while something must still follow.
pub fn departure(entity_id: EntityId, space: SpaceId) -> Key {
    Key::new(entity(entity_id), format!("{PARTING}{space}"))
}

/// The space with a name in files. An agent may have the same one.
pub fn external_space(external_id: &str) -> Key {
    Key::new(format!("EXT#{}", hash(&["space", external_id])), "META")
}

/// The entity with an external id.
pub fn external(external_id: &str) -> Key {
    Key::new(format!("EXT#{}", hash(&["ext", external_id])), "META")
}
