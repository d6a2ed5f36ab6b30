//! The keys of all items.
//!
//! Numbers in keys are padded, so that the order of the keys is the order of the numbers.
//! [`crate::table::indexes`] names the key attributes of the indexes. Their partitions are here.

use sha2::{Digest, Sha256};
use smartspace_domain::ids::{CallId, ConnectionId, DeliveryId, EntityId, PlanId, RunId, SpaceId};

/// How many partitions the index of due items has.
pub const DUE_PARTS: u8 = 16;

/// A primary key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The partition key.
    pub pk: String,
    /// The sort key.
    pub sk: String,
}

impl Key {
    fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }
}

/// The partition of a space.
pub fn space(space: SpaceId) -> String {
    format!("SPACE#{space}")
}

/// A space's settings.
pub fn space_meta(id: SpaceId) -> Key {
    Key::new(space(id), "META")
}

/// The last number and the last chain depth of a space, and the version of its roster.
pub fn space_head(id: SpaceId) -> Key {
    Key::new(space(id), "HEAD")
}

/// The part of a space that prompts in other spaces show.
pub fn space_card(id: SpaceId) -> Key {
    Key::new(space(id), "CARD")
}

/// The prefix of a space's members.
pub const MEMBER: &str = "MEMBER#";
/// The prefix of the subscriptions to a space, and of an entity's own connections.
pub const CONN: &str = "CONN#";
/// The prefix of messages.
pub const MSG: &str = "MSG#";
/// The prefix of texts that are too long for a message's item.
pub const TEXT: &str = "TEXT#";
/// The prefix of decisions on too many agents for a message's item. It sorts after `MEMBER#`, since
/// everything between `CONN#` and `MEMBER#` is read at every event.
pub const WOKEN: &str = "WOKEN#";

/// A member of a space.
pub fn member(id: SpaceId, entity: EntityId) -> Key {
    Key::new(space(id), format!("{MEMBER}{entity}"))
}

/// The subscription of a connection to a space.
pub fn subscription(id: SpaceId, connection: &ConnectionId) -> Key {
    Key::new(space(id), format!("{CONN}{connection}"))
}

/// A numbered item of a space: `MSG#`, `TEXT#` or `WOKEN#`.
pub fn numbered(id: SpaceId, kind: &str, seq: u64) -> Key {
    Key::new(space(id), place(kind, seq))
}

/// The sort key of a numbered item.
pub fn place(kind: &str, seq: u64) -> String {
    format!("{kind}{seq:012}")
}

/// The partition of an entity.
pub fn entity(id: EntityId) -> String {
    format!("ENTITY#{id}")
}

/// A connection of an entity's own. It sorts before the entity's context.
pub fn own_connection(id: EntityId, connection: &ConnectionId) -> Key {
    Key::new(entity(id), format!("{CONN}{connection}"))
}

/// An entity and, for an agent, its configuration.
pub fn entity_meta(id: EntityId) -> Key {
    Key::new(entity(id), "META")
}

/// The part of an agent's configuration that a dispatch reads.
pub fn gate(agent: EntityId) -> Key {
    Key::new(entity(agent), "GATE")
}

/// A space that an agent is in. In the range of the agent's context.
pub fn agent_space(agent: EntityId, space: SpaceId) -> Key {
    Key::new(entity(agent), format!("{AGENT_SPACE}{space}"))
}

/// An active run of an agent. In the range of the agent's context.
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
pub fn kept_version(agent: EntityId) -> Key {
    Key::new(entity(agent), "CTX#KEPT")
}

/// The prefix of an agent's active runs.
pub const ACTIVE_RUN: &str = "CTX#ACTIVE#";
/// The prefix of an agent's spaces.
pub const AGENT_SPACE: &str = "CTX#SPACE#";
/// The range of an agent's partition that is read for a prompt: all of `CTX#`, `GATE` and `META`.
/// Items that a prompt does not need must not sort between them.
pub const CONTEXT: (&str, &str) = ("CTX#", "META");

/// A delivery.
pub fn delivery(id: DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "META")
}

/// The payload of a delivery.
pub fn payload(id: DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "PAYLOAD")
}

/// The key of a service's delivery, for which there is only one run.
pub fn hook(agent: EntityId, service: &str, key: &str) -> Key {
    Key::new(format!("HOOK#{}", hash(&[&agent.to_string(), service, key])), "META")
}

/// The request rate of a caller.
pub fn rate(who: &str) -> Key {
    Key::new(format!("RATE#{}", hash(&["rate", who])), "META")
}

/// The runs of an agent in one minute.
pub fn minute(agent: EntityId, number: i64) -> Key {
    Key::new(format!("RATE#{agent}#{number}"), "META")
}

/// The entity with an external id.
pub fn external(external_id: &str) -> Key {
    Key::new(format!("EXT#{}", hash(&["ext", external_id])), "META")
}

/// The partition of a run.
pub fn run(id: RunId) -> String {
    format!("RUN#{id}")
}

/// The state of a run.
pub fn run_meta(id: RunId) -> Key {
    Key::new(run(id), "META")
}

/// Why a run failed.
pub fn run_error(id: RunId) -> Key {
    Key::new(run(id), "ERROR")
}

/// The part of a run's trigger that is not in a message.
pub fn run_trigger(id: RunId) -> Key {
    Key::new(run(id), "TRIGGER")
}

/// The first prompt of a run.
pub fn run_prompt(id: RunId) -> Key {
    Key::new(run(id), "PROMPT")
}

/// A part of prompts that runs share, by its hash.
pub fn prompt_part(hash: &str) -> Key {
    Key::new(format!("PART#{hash}"), "META")
}

/// The summary of a space's older messages.
pub fn summary(id: SpaceId) -> Key {
    Key::new(space(id), "SUMMARY")
}

/// The prefix of a run's tool calls.
pub const CALL: &str = "CALL#";

/// A finished model answer.
pub fn step(id: RunId, step: u32) -> Key {
    Key::new(run(id), format!("STEP#{step:03}"))
}

/// A tool call.
pub fn call(id: RunId, step: u32, index: u32) -> Key {
    Key::new(run(id), format!("{CALL}{step:03}#{index:03}"))
}

/// The prefix of a run's forms.
pub const FORM: &str = "FORM#";

/// A form.
pub fn form(id: RunId, call: CallId) -> Key {
    Key::new(run(id), format!("{FORM}{call}"))
}

/// The partition of a connection.
pub fn connection(id: &ConnectionId) -> String {
    format!("CONN#{id}")
}

/// A connection.
pub fn connection_meta(id: &ConnectionId) -> Key {
    Key::new(connection(id), "META")
}

/// The prefix of a connection's subscriptions.
pub const FOLLOWS: &str = "SPACE#";

/// The connection's own item of a subscription.
pub fn follows(id: &ConnectionId, space: SpaceId) -> Key {
    Key::new(connection(id), format!("{FOLLOWS}{space}"))
}

/// A ticket, by the hash of its secret.
pub fn ticket(ticket: &str) -> Key {
    Key::new(format!("TICKET#{}", hash(&["ticket", ticket])), "META")
}

/// An idempotency key.
pub fn idempotency(hashed: &str) -> Key {
    Key::new(format!("IDEM#{hashed}"), "META")
}

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

/// SHA-256 over `parts`, in hex. The length of each part is hashed before it, so that different
/// lists of parts never give the same input.
pub fn hash(parts: &[&str]) -> String {
    use std::fmt::Write as _;
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
