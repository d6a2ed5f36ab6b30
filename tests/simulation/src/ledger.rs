//! What clients sent and were told, and what models were asked: all that the oracle knows besides the table at the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{EntityId, RunId, SpaceId},
};
use tokio::time::Instant;

/// What was sent, told and asked.
#[derive(Debug, Default)]
pub struct Ledger {
    /// What must not be, by promise.
    pub complaints: BTreeSet<(u8, String)>,
    /// The spaces.
    pub spaces: Vec<SpaceId>,
    /// The agents, with their names.
    pub agents: Vec<(EntityId, String)>,
    /// The people.
    pub people: Vec<EntityId>,
    /// What people said.
    pub said: Vec<Said>,
    /// What people answered to forms.
    pub answers: Vec<Answered>,
    /// Runs that people canceled, and were told so.
    pub canceled: Vec<Canceled>,
    /// Who was taken out of a space.
    pub removed: Vec<Removed>,
    /// Who was let into a space again, whether or not it is known to have been out.
    pub let_in: BTreeSet<(SpaceId, EntityId)>,
    /// Who is being taken out of a space and let in again.
    pub moving: BTreeSet<(SpaceId, EntityId)>,
    /// What the operator asked for of plans.
    pub plans: Vec<OfPlan>,
    /// Agents that the operator paused, and lets go on.
    pub paused: BTreeSet<EntityId>,
    /// When someone was to come back to plans at the beginning of the calm, by their ids.
    pub due_in_calm: BTreeMap<String, String>,
    /// The wall clock at that time.
    pub wall_in_calm: Option<Time>,
    /// What services sent.
    pub sent: Vec<Sent>,
    /// Deliveries that the operator sent again.
    pub replayed: Vec<Replayed>,
    /// What models were asked.
    pub asks: Vec<Ask>,
    /// What arrived at the servers that tools call, in order.
    pub arrived: Vec<Arrived>,
    /// Tools that were changed: what was under way of them can't be made again.
    pub changed: BTreeSet<String>,
    /// When models wrote their words.
    pub words: BTreeMap<String, Instant>,
    /// When runs were first delivered to a worker.
    pub delivered: BTreeMap<RunId, Instant>,
    /// Items that the table was read, and their bytes, where calls are counted.
    pub read: (usize, usize),
    /// Every call of a process, with the time when it began, where calls are counted.
    pub calls: Vec<(Instant, String)>,
}

/// Something that a person said. Its text is like no other.
#[derive(Clone, Debug)]
pub struct Said {
    /// Who.
    pub person: EntityId,
    /// Where.
    pub space: SpaceId,
    /// What.
    pub text: String,
    /// Where it was kept, as the answer said; none where no answer came.
    pub accepted: Option<(String, u64)>,
}

/// Something that the operator asked for of a plan.
#[derive(Clone, Debug)]
pub struct OfPlan {
    /// Whose.
    pub agent: EntityId,
    /// Which; none of one that was to be made and that nobody was told of.
    pub plan: Option<String>,
    /// What.
    pub deed: PlanDeed,
    /// The body that was sent. Its name is like no other.
    pub body: Value,
    /// When it was first sent.
    pub sent: Instant,
    /// Status and body of the answer; none where no answer came that says something.
    pub told: Option<(u16, Value)>,
    /// When that came.
    pub told_at: Instant,
}

/// What can be asked for of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanDeed {
    /// To make it.
    Make,
    /// To change it.
    Change,
    /// To drop it.
    Drop,
    /// To run it now.
    Run,
}

/// Something that a service sent, once or again and again.
#[derive(Clone, Debug)]
pub struct Sent {
    /// To whom.
    pub agent: EntityId,
    /// Which service.
    pub service: String,
    /// What it says, like no other.
    pub text: String,
    /// How deep in a chain of agents' doings it is.
    pub depth: u64,
    /// Status and body of each answer.
    pub told: Vec<(u16, Value)>,
}

/// A delivery that was sent again.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What it says.
    pub text: String,
    /// Status and body of each answer.
    pub told: Vec<(u16, Value)>,
}

/// An answer to a form. Its value is like no other, unless it is declined.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Who.
    pub person: EntityId,
    /// To a call of which run.
    pub run: String,
    /// To which call.
    pub call: String,
    /// What the model is to be given.
    pub output: Value,
    /// Whether the form asks for such an answer.
    pub fits: bool,
    /// When it was first sent.
    pub sent: Instant,
    /// The status of each try, in order; none where no answer came.
    pub told: Vec<Option<u16>>,
    /// When the last of these came.
    pub told_at: Instant,
}

impl Answered {
    /// Whether someone was told that it was taken.
    pub fn was_taken(&self) -> bool {
        self.told.contains(&Some(202))
    }

    /// Whether it may have been taken.
    pub fn may_be_taken(&self) -> bool {
        self.was_taken() || self.told.iter().any(|told| told.is_none_or(|status| status >= 500))
    }
}

/// A run whose cancellation was answered with 202.
#[derive(Clone, Debug)]
pub struct Canceled {
    /// The run.
    pub run: String,
    /// The last number of the spaces after that answer.
    pub after: BTreeMap<SpaceId, u64>,
}

/// Someone whose removal was answered.
#[derive(Clone, Debug)]
pub struct Removed {
    /// Who.
    pub entity: EntityId,
    /// From where.
    pub space: SpaceId,
    /// When that was answered.
    pub at: Instant,
    /// The space's last number after the answer.
    pub after: u64,
    /// When someone asked for it to come back.
    pub back: Option<Instant>,
    /// The space's last number before that.
    pub back_after: Option<u64>,
}

/// A question to a model.
#[derive(Clone, Debug)]
pub struct Ask {
    /// When it was sent.
    pub sent: Instant,
    /// When it arrived.
    pub at: Instant,
    /// By which process.
    pub process: String,
    /// Which model.
    pub model: String,
    /// Of which agent.
    pub agent: EntityId,
    /// The message that woke it; where a plan or a service did, the run.
    pub trigger: String,
    /// Whether another agent handed that on: an agent may have two runs for one message then.
    pub delegated: bool,
    /// The space that the history is of.
    pub space: String,
    /// Answers before this one.
    pub step: usize,
    /// The messages of the history and of the news, with their marks: whether it was seen, and whether it is the agent's own.
    pub lines: Vec<Line>,
    /// What it had answered before, what came of it, and what the system said in between.
    pub before: Vec<String>,
}

impl Ask {
    /// Of which run: its agent, and what woke it.
    pub fn run(&self) -> (EntityId, &str, bool) {
        (self.agent, &self.trigger, self.delegated)
    }
}

/// A request that arrived at a server.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// The tool that sent it.
    pub tool: String,
    /// What the model asked for, like no other call.
    pub what: String,
    /// Its `Idempotency-Key`.
    pub key: String,
    /// The process that sent it.
    pub process: String,
    /// It took effect.
    pub took_effect: bool,
    /// The status and body that were answered, whether or not anybody heard.
    pub answered: Option<(u16, Value)>,
}

/// A message in a history that a model was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its id.
    pub message: String,
    /// Marked as seen.
    pub seen: bool,
    /// The agent's own.
    pub own: bool,
}
