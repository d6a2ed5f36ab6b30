//! The keys of every item, in one place.
//!
//! Numbers in keys are padded, so that the table's order is theirs. Index keys stand in `g2pk`/`g2sk` (entities, spaces, an entity's spaces, an
//! agent's runs, its deliveries), `g3pk`/`g3sk` (a space's runs, and those of them that are active) and `due`/`dueAt` (what someone must come back to).

use sha2::{Digest, Sha256};
use smartspace_domain::ids::{CallId, ConnectionId, DeliveryId, EntityId, PlanId, RunId, SpaceId};

/// How many parts the index of what is due has.
pub const DUE_PARTS: u8 = 16;

/// A primary key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Partition.
    pub pk: String,
    /// Place in it.
    pub sk: String,
}

impl Key {
    fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }
}

/// All of a space.
pub fn space(space: SpaceId) -> String {
    format!("SPACE#{space}")
}

/// A space's settings.
pub fn space_meta(id: SpaceId) -> Key {
    Key::new(space(id), "META")
}

/// What changes with each message: `seq`, `depth`; and the version of the roster.
pub fn space_head(id: SpaceId) -> Key {
    Key::new(space(id), "HEAD")
}

/// What other spaces' prompts show of a space.
pub fn space_card(id: SpaceId) -> Key {
    Key::new(space(id), "CARD")
}

/// Members of a space.
pub const MEMBER: &str = "MEMBER#";
/// Subscriptions to a space, and an entity's own connections.
pub const CONN: &str = "CONN#";
/// Messages.
pub const MSG: &str = "MSG#";
/// Texts too long for a message's item.
pub const TEXT: &str = "TEXT#";
/// Decisions on too many agents for a message's item. Behind everything else: what stands between `CONN#` and `MEMBER#` is read at every event.
pub const WOKEN: &str = "WOKEN#";

/// A member of a space.
pub fn member(id: SpaceId, entity: EntityId) -> Key {
    Key::new(space(id), format!("{MEMBER}{entity}"))
}

/// A connection that follows a space.
pub fn subscription(id: SpaceId, connection: &ConnectionId) -> Key {
    Key::new(space(id), format!("{CONN}{connection}"))
}

/// A numbered item of a space: `MSG#`, `TEXT#` or `WOKEN#`.
pub fn numbered(id: SpaceId, kind: &str, seq: u64) -> Key {
    Key::new(space(id), place(kind, seq))
}

/// Where a numbered item stands in its space.
pub fn place(kind: &str, seq: u64) -> String {
    format!("{kind}{seq:012}")
}

/// All of an entity.
pub fn entity(id: EntityId) -> String {
    format!("ENTITY#{id}")
}

/// A connection of an entity's own. Sorts before its context.
pub fn own_connection(id: EntityId, connection: &ConnectionId) -> Key {
    Key::new(entity(id), format!("{CONN}{connection}"))
}

/// An entity and, for an agent, its configuration.
pub fn entity_meta(id: EntityId) -> Key {
    Key::new(entity(id), "META")
}

/// What a dispatch reads of an agent.
pub fn gate(agent: EntityId) -> Key {
    Key::new(entity(agent), "GATE")
}

/// A space that an agent is in; a part of the range that is the agent's context.
pub fn agent_space(agent: EntityId, space: SpaceId) -> Key {
    Key::new(entity(agent), format!("{AGENT_SPACE}{space}"))
}

/// An agent's active run; a part of the range that is the agent's context.
pub fn active_run(agent: EntityId, run: RunId) -> Key {
    Key::new(entity(agent), format!("{ACTIVE_RUN}{run}"))
}

/// What an agent remembers.
pub const MEMORY: &str = "CTX#MEMORY#";
/// What an agent works towards.
pub const GOAL: &str = "CTX#GOAL#";

/// Something that an agent remembers; a part of the range that is the agent's context.
pub fn memory(agent: EntityId, key: &str) -> Key {
    Key::new(entity(agent), format!("{MEMORY}{key}"))
}

/// A goal of an agent; a part of the range that is the agent's context.
pub fn goal(agent: EntityId, id: &str) -> Key {
    Key::new(entity(agent), format!("{GOAL}{id}"))
}

/// What an agent is to do later.
pub const PLAN: &str = "CTX#PLAN#";

/// A plan of an agent; a part of the range that is the agent's context.
pub fn plan(agent: EntityId, id: PlanId) -> Key {
    Key::new(entity(agent), format!("{PLAN}{id}"))
}

/// The version of an agent's memories, goals and plans: whoever changes them raises it, so that their number is bounded. A part of the same range.
pub fn kept_version(agent: EntityId) -> Key {
    Key::new(entity(agent), "CTX#KEPT")
}

/// An agent's active runs.
pub const ACTIVE_RUN: &str = "CTX#ACTIVE#";
/// An agent's spaces.
pub const AGENT_SPACE: &str = "CTX#SPACE#";
/// The range of an entity's partition that is read for a prompt: all of `CTX#`, `GATE` and `META`. Nothing that a prompt does not need may sort
/// between them.
pub const CONTEXT: (&str, &str) = ("CTX#", "META");

/// What a service sent.
pub fn delivery(id: DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "META")
}

/// Its payload.
pub fn payload(id: DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "PAYLOAD")
}

/// What tells a delivery of a service from others.
pub fn hook(agent: EntityId, service: &str, key: &str) -> Key {
    Key::new(format!("HOOK#{}", hash(&[&agent.to_string(), service, key])), "META")
}

/// How often someone calls.
pub fn rate(who: &str) -> Key {
    Key::new(format!("RATE#{}", hash(&["rate", who])), "META")
}

/// The runs of an agent in one minute.
pub fn minute(agent: EntityId, number: i64) -> Key {
    Key::new(format!("RATE#{agent}#{number}"), "META")
}

/// Who has an external id.
pub fn external(external_id: &str) -> Key {
    Key::new(format!("EXT#{}", hash(&["ext", external_id])), "META")
}

/// All of a run.
pub fn run(id: RunId) -> String {
    format!("RUN#{id}")
}

/// A run's state.
pub fn run_meta(id: RunId) -> Key {
    Key::new(run(id), "META")
}

/// Why a run failed.
pub fn run_error(id: RunId) -> Key {
    Key::new(run(id), "ERROR")
}

/// What a run's trigger says besides its message.
pub fn run_trigger(id: RunId) -> Key {
    Key::new(run(id), "TRIGGER")
}

/// What a run's model was first sent.
pub fn run_prompt(id: RunId) -> Key {
    Key::new(run(id), "PROMPT")
}

/// The system message of prompts, by its hash.
pub fn prompt_part(hash: &str) -> Key {
    Key::new(format!("PART#{hash}"), "META")
}

/// What of a space's history stands before the window of its prompts.
pub fn summary(id: SpaceId) -> Key {
    Key::new(space(id), "SUMMARY")
}

/// Finished tool calls of a run.
pub const CALL: &str = "CALL#";

/// A finished model answer.
pub fn step(id: RunId, step: u32) -> Key {
    Key::new(run(id), format!("STEP#{step:03}"))
}

/// A finished tool call.
pub fn call(id: RunId, step: u32, index: u32) -> Key {
    Key::new(run(id), format!("{CALL}{step:03}#{index:03}"))
}

/// Forms of a run.
pub const FORM: &str = "FORM#";

/// A call that people answer.
pub fn form(id: RunId, call: CallId) -> Key {
    Key::new(run(id), format!("{FORM}{call}"))
}

/// All of a connection.
pub fn connection(id: &ConnectionId) -> String {
    format!("CONN#{id}")
}

/// A connection.
pub fn connection_meta(id: &ConnectionId) -> Key {
    Key::new(connection(id), "META")
}

/// Spaces that a connection follows.
pub const FOLLOWS: &str = "SPACE#";

/// A space that a connection follows.
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

/// Index partition of what is due; `part` is below [`DUE_PARTS`].
pub fn due(part: u8) -> String {
    format!("DUE#{part}")
}

/// SHA-256 over `parts`, each behind its length so that no two lists of parts are alike, in hex.
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
