//! Runs as they are stored.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    concurrency::WaitsFor,
    days::Day,
    dispatch::Source,
    entities::EntityType,
    ids::{ChainId, EntityId, LeaseId, RunId, SpaceId},
    jobs::{MessageRef, RunJob, RunRef},
    limits::{due, lease},
    runs::{EndReason, ForkOf, ReportedUsage, Run, RunError, RunStatus, Usage, UsageByModel},
    triggers::Trigger,
};

use crate::{
    Store,
    runs::{RemoteRecord, TriggeredBy, marks::Marks, places::Reads, silence::Silence},
    shared::message::MessageRecord,
    table::keys,
    usage::UsageScope,
};

/// The state of a run. Its item is smaller than 1 KB: the trigger, the prompt and the steps have
/// items of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    pub id: RunId,
    pub agent_id: EntityId,
    pub status: RunStatus,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    /// The beginning of the reason that `skip_response` gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_reason: Option<String>,
    #[serde(flatten)]
    pub triggered_by: TriggeredBy,
    pub chain_depth: u32,
    /// 1, plus one for each worker that took it over after a lost lease.
    pub attempt: u32,
    /// How often it was claimed in all, including after being given back.
    #[serde(default)]
    pub claims: u32,
    /// How many model answers are finished.
    pub step_count: u32,
    /// The space to which its messages would go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_space_id: Option<SpaceId>,
    /// Whether it belongs to the lane of its agent in the space of its trigger.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_lane: bool,
    /// The reason for which it waits, while it may not start yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// The numbers of the messages, besides its trigger, that it answers, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<u64>,
    /// Whether questions are left to it, what becomes of them, and what it has posted first.
    #[serde(flatten)]
    pub silence: Silence,
    /// The run that answers its message instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into_run_id: Option<RunId>,
    /// The run that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    /// The revision of the agent that its last worker had, since it has stored something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_revision: Option<u64>,
    /// The tokens that it used.
    pub usage: Usage,
    /// The same by model, up to its last stored answer that was followed by calls.
    #[serde(default, skip_serializing_if = "UsageByModel::is_empty")]
    pub used: UsageByModel,
    /// Raised by every write of its worker, every result of a form and every message that joins.
    #[serde(default)]
    pub kept: u64,
    /// How many calls with an open card have no result yet. `None` if there never was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_calls: Option<u32>,
    /// When it last began to wait for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Time>,
    /// The lease of the worker that paused it: the token that detects a lost answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<LeaseId>,
    /// How long it has waited in all, in milliseconds.
    #[serde(default)]
    pub waited_ms: u64,
    /// How far the current model answer was tried when the run was last given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Tried>,
    /// Whether a worker of it panicked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_panicked: bool,
    /// When it was queued.
    pub created_at: Time,
    /// When it was first claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When the first part of its first answer arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// The `traceparent` of what triggered it, if traces are exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The remote agent's part in it, if one works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteRecord>,
    /// How far the remote agent has read in each space.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
    /// The steps before which watchers spoke to the model, so that a list reads no other ones.
    /// While a worker has the run, it knows only of those before it claimed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hinted: Vec<u32>,
    /// The first and the last message of each space that it has read. Set at its end, if that is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Reads>,
    /// When words of deleted messages were last cut out of what it has stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted_at: Option<Time>,
    /// Whether the remote agent has reacted to a message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reacted: bool,
    /// The usage that the remote agent reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<ReportedUsage>,
    /// The lease of its worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
    /// When the lease expires unless its worker renews it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Time>,
    /// The token of the worker or the request that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<LeaseId>,
    /// Its partition in the index of due items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// When it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
    /// When its item expires, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    pub(crate) g2pk: String,
    pub(crate) g2sk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3sk: Option<String>,
    /// Its sort key in this index is `g2sk`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g4pk: Option<String>,
}

/// How far the tries of a model answer had come when the run was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// The step of the answer. For other steps, this value means nothing.
    pub step: u32,
    /// The stage of the tries, as `run` counts it.
    pub stage: u32,
    /// When the model may be asked again.
    pub again_at: Time,
}

impl RunRecord {
    /// A new run, queued now.
    pub fn queued(
        id: RunId,
        agent_id: EntityId,
        triggered_by: TriggeredBy,
        chain_depth: u32,
        now: Time,
    ) -> Self {
        let space = triggered_by.message().map(|message| message.space_id);
        Self {
            active_space_id: space,
            due: Some(keys::due(id.part_of(keys::DUE_PARTS))),
            due_at: Some(now + due::QUEUED),
            g3pk: space.map(keys::runs_of_space),
            g3sk: space.map(|_| id.to_string()),
            g4pk: Some(keys::runs_of_day(Day::of(id.time()), id.part_of(keys::RUN_PARTS))),
            ..Self::new(id, agent_id, triggered_by, chain_depth, now)
        }
    }

    /// A run that no list shows yet.
    fn new(
        id: RunId,
        agent_id: EntityId,
        triggered_by: TriggeredBy,
        chain_depth: u32,
        now: Time,
    ) -> Self {
        Self {
            id,
            agent_id,
            status: RunStatus::Queued,
            end_reason: None,
            skip_reason: None,
            triggered_by,
            chain_depth,
            attempt: 1,
            claims: 0,
            step_count: 0,
            active_space_id: None,
            in_lane: false,
            waits_for: None,
            joined: Vec::new(),
            silence: Silence::default(),
            into_run_id: None,
            retry_of: None,
            config_revision: None,
            usage: Usage::default(),
            used: UsageByModel::default(),
            kept: 0,
            open_calls: None,
            paused_at: None,
            paused_by: None,
            waited_ms: 0,
            tried: None,
            has_panicked: false,
            created_at: now,
            started_at: None,
            first_token_at: None,
            finished_at: None,
            trace: None,
            remote: None,
            marks: Marks::new(),
            hinted: Vec::new(),
            reads: None,
            redacted_at: None,
            reacted: false,
            reported: None,
            lease: None,
            lease_until: None,
            ended_by: None,
            due: None,
            due_at: None,
            expires_at: None,
            g2pk: keys::runs_of_agent(agent_id),
            g2sk: id.to_string(),
            g3pk: None,
            g3sk: None,
            g4pk: None,
        }
    }

    /// A new run that `message` triggers.
    pub fn triggered(
        id: RunId,
        agent_id: EntityId,
        space_id: SpaceId,
        message: &MessageRecord,
        source: Source,
        now: Time,
    ) -> Self {
        let triggered_by = TriggeredBy::Message {
            space_id,
            seq: message.seq,
            message_id: message.id,
            source,
            chain: message.chain,
            // A delegated run is not in the decision of the message, and one for an unanswered
            // question is the last one.
            asks: message.asks && !matches!(source, Source::Delegated | Source::Unanswered),
            is_reply: message.reply_to.is_some() && message.sender.kind == EntityType::Human,
        };
        Self::queued(id, agent_id, triggered_by, message.chain_depth, now)
    }

    /// The run in the trace of what wakes it now, if traces are exported.
    pub(crate) fn traced(self, store: &Store) -> Self {
        Self { trace: self.trace.or_else(|| store.trace()), ..self }
    }

    /// The space of the message that triggered it, if a message did.
    pub fn space_id(&self) -> Option<SpaceId> {
        self.place().map(|place| place.space_id)
    }

    /// The message that triggered it, if a message did.
    pub fn place(&self) -> Option<MessageRef> {
        self.triggered_by.message()
    }

    /// The chain that it belongs to, or that it begins.
    pub fn chain_id(&self) -> ChainId {
        match self.triggered_by {
            TriggeredBy::Message { chain, message_id, .. } => {
                chain.unwrap_or_else(|| message_id.into())
            }
            _ => self.id.into(),
        }
    }

    /// The agent and the space that its usage counts for.
    pub fn usage_scope(&self) -> UsageScope {
        UsageScope { agent: Some(self.agent_id), space: self.paying_space() }
    }

    /// The space that pays for its model calls.
    pub fn paying_space(&self) -> Option<SpaceId> {
        self.home()
    }

    /// The space of the message that triggered it, or the run that it replays.
    pub fn home(&self) -> Option<SpaceId> {
        match self.triggered_by {
            TriggeredBy::Fork { of_space, .. } => of_space,
            _ => self.space_id(),
        }
    }

    /// Where it begins, if it is a fork.
    pub fn fork_of(&self) -> Option<ForkOf> {
        self.triggered_by.fork_of()
    }

    /// Whether another agent handed its trigger on.
    pub fn is_delegated(&self) -> bool {
        matches!(self.triggered_by, TriggeredBy::Message { source: Source::Delegated, .. })
    }

    /// Whether it is for a question that nobody has answered.
    pub fn is_for_unanswered(&self) -> bool {
        matches!(self.triggered_by, TriggeredBy::Message { source: Source::Unanswered, .. })
    }

    /// Whether its message does not name its agent.
    pub(crate) fn is_auto_reply(&self) -> bool {
        matches!(self.triggered_by, TriggeredBy::Message { source, .. } if source.is_auto_reply())
    }

    /// The run, for a job or a line.
    pub fn to_ref(&self) -> RunRef {
        RunRef {
            run_id: self.id,
            agent_id: self.agent_id,
            place: self.place(),
            in_lane: self.in_lane,
            is_fork: self.fork_of().is_some(),
        }
    }

    /// The job that starts or resumes it.
    pub fn job(&self) -> RunJob {
        RunJob::of(self.to_ref())
    }

    /// The run as it is after a worker has claimed it with a slot.
    pub(super) fn claimed(self, lease: &LeaseId, now: Time) -> Self {
        let waited = self.paused_at.map_or(0, |since| now.since(since).as_millis() as u64);
        let is_resumed = self.status == RunStatus::WaitingTool;
        Self {
            status: RunStatus::Running,
            lease: Some(lease.clone()),
            lease_until: Some(now + lease::DURATION),
            due_at: Some(now + due::RUNNING),
            started_at: self.started_at.or(Some(now)),
            claims: self.claims + 1,
            waited_ms: self.waited_ms + if is_resumed { waited } else { 0 },
            waits_for: None,
            ..self
        }
    }

    /// The run, as the API shows it.
    pub fn view(&self, trigger: Trigger, error: Option<RunError>) -> Run {
        Run {
            id: self.id,
            agent_id: self.agent_id,
            status: self.status,
            end_reason: self.end_reason,
            reason: self.skip_reason.clone(),
            joined: self.joined.clone(),
            into_run_id: self.into_run_id,
            retry_of: self.retry_of,
            fork_of: self.fork_of(),
            trigger,
            active_space_id: self.active_space_id,
            chain_depth: self.chain_depth,
            chain_id: Some(self.chain_id()),
            attempt: self.attempt,
            step_count: self.step_count,
            config_revision: self.config_revision,
            usage: Some(self.usage),
            remote: self.remote.is_some(),
            reported_usage: self.reported,
            error,
            created_at: self.created_at,
            started_at: self.started_at,
            first_token_at: self.first_token_at,
            finished_at: self.finished_at,
            redacted_at: self.redacted_at,
            asked: None,
            asked_by: None,
            post_seq: None,
            said: None,
            hints: None,
            steps: None,
        }
    }

    /// Whether its worker gave it back and no other worker has claimed it yet.
    pub fn is_given_back(&self) -> bool {
        self.status == RunStatus::Running && self.lease.is_none()
    }

    /// When another worker may take it over.
    pub fn free_at(&self) -> Time {
        self.lease_until.map_or(Time::default(), |until| until + lease::GRACE)
    }
}
