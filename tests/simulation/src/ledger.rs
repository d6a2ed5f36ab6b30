//! The ledger: the requests of clients with their answers, and the requests to models. Besides the
//! table's items at the end, this is all that the oracle knows.

mod apart;
mod model_request;
pub mod searches;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{EntityId, RunId, SpaceId},
};
use tokio::time::Instant;

pub use apart::{Apart, Reactions};
pub(crate) use model_request::{DELETED, active_space};
pub use model_request::{Line, ModelRequest};
use searches::SearchRecords;

/// The number of a broken promise, and what broke it. 0 is an internal error. 10 is also a wrong
/// stream.
pub type Violation = (u8, String);

/// All records of one simulation.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Broken promises that were noticed before the end.
    pub violations: BTreeSet<Violation>,
    pub spaces: Vec<SpaceId>,
    /// The agents, with their names.
    pub agents: Vec<(EntityId, String)>,
    pub people: Vec<EntityId>,
    /// The messages that people sent.
    pub sent_messages: Vec<SentMessage>,
    /// The replies, edits, deletions, reactions and pins of people.
    pub changes: Vec<SentChange>,
    /// The searches of people and agents, and the space that they search.
    pub searches: SearchRecords,
    /// The files that people announced: their spaces and their ids.
    pub announced_files: Vec<(SpaceId, String)>,
    /// The files whose deletion was requested, and whether it was confirmed.
    pub deleted_files: BTreeMap<String, bool>,
    /// Spaces that their only member has left.
    pub emptied: Vec<Emptied>,
    /// The files of messages that people and remote agents sent.
    pub sent_files: Vec<SentFiles>,
    /// How often a picture was drawn, by the call.
    pub drawn: BTreeMap<String, u32>,
    /// Messages that were refused because their space accepted no more in that second.
    pub refused_messages: Vec<RefusedMessage>,
    /// The answers that people gave to forms.
    pub answers: Vec<FormAnswer>,
    /// The decisions of people about calls.
    pub decisions: Vec<CallDecision>,
    /// Runs whose cancellation was confirmed.
    pub canceled: Vec<Canceled>,
    /// Chains that people have stopped.
    pub stopped_chains: Vec<StoppedChain>,
    /// Requests to repeat runs.
    pub retried: Vec<Retried>,
    /// Invites, and how they were accepted.
    pub invited: Vec<Invited>,
    /// Requests to fork runs.
    pub forked: Vec<Forked>,
    /// Entities that were removed from a space.
    pub removed: Vec<Removed>,
    /// Entities that were added to a space again, even if their removal was not confirmed.
    pub readmitted: BTreeSet<(SpaceId, EntityId)>,
    /// Entities that are being removed from a space and added again.
    pub moving: BTreeSet<(SpaceId, EntityId)>,
    /// Spaces whose deletion was requested.
    pub deleted: BTreeSet<SpaceId>,
    /// The requests of the operator about plans.
    pub plans: Vec<PlanRequest>,
    /// Agents that the operator paused at some time.
    pub paused: BTreeSet<EntityId>,
    /// When plans were due at the beginning of the calm phase, by their ids.
    pub due_in_calm: BTreeMap<String, String>,
    /// The wall clock at the beginning of the calm phase.
    pub wall_in_calm: Option<Time>,
    pub sent: Vec<SentDelivery>,
    /// Deliveries that the operator replayed.
    pub replayed: Vec<ReplayedDelivery>,
    /// What remote agents do about their runs, by run.
    pub remote: BTreeMap<String, RemoteRun>,
    /// The webhooks of remote agents, as prompts.
    pub woken: Vec<ModelRequest>,
    /// The runs of which a webhook was refused or not reached its agent.
    pub refused_webhooks: BTreeSet<String>,
    /// How often the router answered, or failed to answer, by the text of the message.
    pub routed: BTreeMap<String, u64>,
    /// When routers were asked about messages, by their sender as the question names it.
    pub router_calls: BTreeMap<String, Vec<Instant>>,
    /// The requests that models received.
    pub model_requests: Vec<ModelRequest>,
    /// The requests that arrived at the servers that tools call, in order.
    pub arrived: Vec<ArrivedRequest>,
    /// Tools whose configuration was changed: their calls under way can't be repeated.
    pub changed: BTreeSet<String>,
    /// When models wrote their words.
    pub words: BTreeMap<String, Instant>,
    /// When runs were first delivered to a worker.
    pub delivered: BTreeMap<RunId, Instant>,
    /// The invocations that worked on each run.
    pub invocations: BTreeMap<String, Vec<Invocation>>,
    /// The frames that people sent, by their connections.
    pub frames: BTreeMap<String, Vec<SentFrame>>,
    /// The frames that were refused because there were too many, by their connections.
    pub refused_frames: Vec<(String, Instant)>,
    pub floods: Vec<Flood>,
    /// Messages that were posted while people watched.
    pub watched: Vec<WatchedPost>,
    /// Read positions that moved in the calm phase.
    pub moved_reads: Vec<MovedRead>,
    /// The number and bytes of items that were read, if calls are counted.
    pub read: (usize, usize),
    /// Every call of a process, with the time when it began, if calls are counted.
    pub calls: Vec<(Instant, String)>,
}

impl Ledger {
    /// Whether somebody was removed from a space at some time.
    pub fn has_lost_members(&self, space: SpaceId) -> bool {
        self.readmitted.iter().chain(&self.moving).any(|(left, _)| *left == space)
    }
}

/// A process that got the job of a run.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub process: String,
    pub begun: Instant,
    /// When it had handled the job. `None` if it died before.
    pub ended: Option<Instant>,
}

/// A space that its only member has left.
#[derive(Clone, Debug)]
pub struct Emptied {
    pub space: SpaceId,
    /// When the member began to leave. Only spaces whose member has left are noted.
    pub from: Instant,
    /// When the request to let the member in again was answered, and the status.
    pub readmitted: Option<(Instant, Option<u16>)>,
}

/// The files of a message. Its text is unique.
#[derive(Clone, Debug)]
pub struct SentFiles {
    /// The text of the message.
    pub text: String,
    /// The ids of the files, in order.
    pub files: Vec<String>,
}

/// What a remote agent does about a run.
#[derive(Clone, Debug)]
pub struct RemoteRun {
    pub posts: Vec<RemotePost>,
    /// Whether it fails.
    pub is_failed: bool,
    /// The tokens that its webhooks carried.
    pub tokens: BTreeSet<String>,
    /// The conclusive answers when it completed the run.
    pub ends: Vec<RemoteEnd>,
    /// How often it tried to.
    pub ends_sent: usize,
    /// Answers with a status that it did not expect.
    pub wrong: Vec<String>,
}

/// A message of a remote agent. Its text is unique.
#[derive(Clone, Debug)]
pub struct RemotePost {
    pub key: String,
    pub text: String,
    /// Its space, if no message triggered the run.
    pub space: Option<String>,
    /// The files that it names, perhaps of another space. `None` until it is sent.
    pub files: Option<Vec<String>>,
    pub answers: Vec<RemoteAnswer>,
    /// How often it was sent.
    pub sends: usize,
}

/// An answer to a message of a remote agent.
#[derive(Clone, Debug)]
pub struct RemoteAnswer {
    /// When the message was sent.
    pub sent: Time,
    pub status: u16,
    /// The id of the message.
    pub id: Option<String>,
}

/// An answer to a remote agent that completed its run.
#[derive(Clone, Debug)]
pub struct RemoteEnd {
    /// When it did.
    pub sent: Time,
    pub status: u16,
}

/// Requests to repeat a run.
#[derive(Clone, Debug)]
pub struct Retried {
    pub of: String,
    /// The answers, `None` for requests whose outcome is not known.
    pub answers: Vec<Option<(u16, Value)>>,
}

/// An invite, and how guests accepted it.
#[derive(Clone, Debug)]
pub struct Invited {
    pub invite: String,
    /// How often it could be used.
    pub uses: u64,
    /// Whether it was revoked.
    pub revoked: bool,
    /// The answers to guests, `None` for those whose outcome is not known.
    pub answers: Vec<Option<(u16, Value)>>,
}

/// A request to fork a run.
#[derive(Clone, Debug)]
pub struct Forked {
    pub of: String,
    /// The first step that is asked again.
    pub step: u64,
    /// The answer, `None` if the outcome is not known.
    pub answer: Option<(u16, Value)>,
}

/// A frame that a person sent.
#[derive(Clone, Copy, Debug)]
pub struct SentFrame {
    /// When it was sent.
    pub at: Instant,
    /// What it costs of the tokens of its connection.
    pub tokens: u32,
}

/// A message that was posted while people watched, over connections without faults.
#[derive(Clone, Debug)]
pub struct WatchedPost {
    pub space: SpaceId,
    /// The number of the message.
    pub seq: u64,
    /// When its sender learned that it is stored.
    pub at: Instant,
    /// The followers of the space, by the numbers of the people, with the time since when each of
    /// them knew that it follows the space.
    pub followers: Vec<(usize, Instant)>,
}

/// A read position that moved.
#[derive(Clone, Copy, Debug)]
pub struct MovedRead {
    pub space: SpaceId,
    pub entity: EntityId,
    pub seq: u64,
}

/// Many frames at once over one connection.
#[derive(Clone, Debug)]
pub struct Flood {
    pub connection: String,
    /// How many frames were answered and not refused.
    pub answered: usize,
    /// The time from the first frame to the last answer.
    pub took: Duration,
}

/// A message that a person sent. Its text is unique.
#[derive(Clone, Debug)]
pub struct SentMessage {
    pub person: EntityId,
    pub space: SpaceId,
    pub text: String,
    /// The id and number in the answer, or `None` if no answer confirmed the message.
    pub accepted: Option<(String, u64)>,
}

/// A reply of a person to a message, or a change of the message.
#[derive(Clone, Debug)]
pub struct SentChange {
    pub by: EntityId,
    pub kind: ChangeKind,
    pub space: SpaceId,
    /// The number of the message.
    pub seq: u64,
    /// The unique text of a reply or an edit, or the emoji of a reaction.
    pub text: String,
    /// When it was first sent.
    pub sent: Instant,
    /// When the conclusive answer came, and its status. `None` if none came. Replies have none:
    /// their answers are among the sent messages.
    pub answered: Option<(Instant, u16)>,
}

/// What a request does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Reply,
    Edit,
    Delete,
    React,
    Unreact,
    Pin,
    Unpin,
}

/// A message that was refused because its space accepted no more in that second.
#[derive(Clone, Debug)]
pub struct RefusedMessage {
    pub sender: EntityId,
    pub space: String,
    /// The bytes of its text.
    pub bytes: usize,
    /// The wall clock when it was sent.
    pub from: Time,
    /// The wall clock when the refusal arrived.
    pub to: Time,
}

/// A request of the operator about a plan.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The agent of the plan.
    pub agent: EntityId,
    /// The plan, or `None` in a request that makes one.
    pub plan: Option<String>,
    pub action: PlanAction,
    /// The body. Its name is unique.
    pub body: Value,
    /// When it was first sent.
    pub sent: Instant,
    /// Status and body of the conclusive answer, or `None` if none came.
    pub answer: Option<(u16, Value)>,
    /// When the last try ended.
    pub answered_at: Instant,
}

/// What a request does to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanAction {
    /// Creates it.
    Make,
    /// Changes it.
    Change,
    /// Deletes it.
    Drop,
    /// Runs it now.
    Run,
}

/// A delivery that a service sent, once or several times.
#[derive(Clone, Debug)]
pub struct SentDelivery {
    /// The agent that it is sent to.
    pub agent: EntityId,
    /// The name of the service.
    pub service: String,
    /// The unique text of its payload.
    pub text: String,
    pub depth: u64,
    /// Status and body of each conclusive answer.
    pub answers: Vec<(u16, Value)>,
}

/// A delivery that the operator replayed.
#[derive(Clone, Debug)]
pub struct ReplayedDelivery {
    /// The text of its payload.
    pub text: String,
    /// Status and body of each conclusive answer.
    pub answers: Vec<(u16, Value)>,
}

/// An answer to a form. Its value is unique, even if it declines.
#[derive(Clone, Debug)]
pub struct FormAnswer {
    pub person: EntityId,
    /// The call that shows the form.
    pub call: String,
    /// The output that the model is to get.
    pub output: Value,
    /// Whether the form accepts such an answer.
    pub fits: bool,
    /// The wall clock before the first try.
    pub sent: Time,
    /// The status of each try, in order, or `None` if no answer came.
    pub statuses: Vec<Option<u16>>,
}

impl FormAnswer {
    /// Whether an answer confirmed that it was accepted.
    pub fn was_taken(&self) -> bool {
        self.statuses.contains(&Some(202))
    }

    /// Whether it may have been accepted.
    pub fn may_be_taken(&self) -> bool {
        self.was_taken()
            || self.statuses.iter().any(|status| status.is_none_or(|status| status >= 500))
    }
}

/// A decision of a person about a call.
#[derive(Clone, Debug)]
pub struct CallDecision {
    pub person: EntityId,
    pub call: String,
    pub action: &'static str,
    /// The new input of an edit. It is unique.
    pub input: Value,
    /// The status of each try, in order, or `None` if no answer came.
    pub statuses: Vec<Option<u16>>,
}

impl CallDecision {
    /// Whether an answer confirmed that it counts.
    pub fn was_taken(&self) -> bool {
        self.statuses.contains(&Some(202))
    }

    /// Whether it may count.
    pub fn may_be_taken(&self) -> bool {
        let is_open = |status: &Option<u16>| status.is_none_or(|status| status >= 500);
        self.was_taken() || self.statuses.iter().any(is_open)
    }
}

/// A run whose cancellation was answered with 202.
#[derive(Clone, Debug)]
pub struct Canceled {
    pub run: String,
    /// The last message number of each space after that answer.
    pub after: BTreeMap<SpaceId, u64>,
}

/// A chain whose stop was answered with 200.
#[derive(Clone, Debug)]
pub struct StoppedChain {
    pub space: SpaceId,
    /// The message that named the chain.
    pub seq: u64,
    /// The last message number of the space after that answer.
    pub after: u64,
}

/// An entity whose removal from a space was confirmed.
#[derive(Clone, Debug)]
pub struct Removed {
    pub entity: EntityId,
    pub space: SpaceId,
    /// When the removal was confirmed.
    pub at: Instant,
    /// The space's last message number after the confirmation.
    pub after: u64,
    /// When it was to be added again.
    pub back: Option<Instant>,
    /// The space's last message number before it was added again.
    pub back_after: Option<u64>,
}

/// A request that arrived at a server.
#[derive(Clone, Debug)]
pub struct ArrivedRequest {
    /// The tool that sent it.
    pub tool: String,
    /// The unique input of the call.
    pub what: String,
    pub key: String,
    /// The process that sent it.
    pub process: String,
    /// Whether it took effect.
    pub took_effect: bool,
    /// The status and body of the answer, even if it was lost.
    pub answered: Option<(u16, Value)>,
}
