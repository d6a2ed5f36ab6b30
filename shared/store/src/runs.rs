//! Runs: how they are kept and read. How they are claimed stands in [`crate::claims`], how they end in [`crate::endings`].

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    dispatch::Source,
    events::ActiveRun,
    ids::{DeliveryId, EntityId, LeaseId, MessageId, PlanId, RunId, SpaceId},
    jobs::{Place, RunJob},
    limits::lease,
    messages::Sender,
    runs::{EndReason, Run, RunError, RunStatus, Usage},
    triggers::Trigger,
};

use crate::{
    Error, Result, Store,
    append::short,
    keys,
    messages::MessageRecord,
    pages::{Ask, Page},
    table::{Query, WriteError, key_of},
    write::Write,
};

/// A run's state, as it is kept; under 1 KB. Its trigger is a message, kept by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// Its id.
    pub id: RunId,
    /// Whose.
    pub agent_id: EntityId,
    /// Its state.
    pub status: RunStatus,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    /// What woke it.
    #[serde(flatten)]
    pub woken_by: WokenBy,
    /// How deep in a chain of agents' doings that was.
    pub chain_depth: u32,
    /// Claims that followed a lost lease, and the first.
    pub attempt: u32,
    /// All claims: also those that followed a hand-over.
    #[serde(default)]
    pub claims: u32,
    /// Finished model answers.
    pub step_count: u32,
    /// Where it would speak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_space_id: Option<SpaceId>,
    /// What it used.
    pub usage: Usage,
    /// Raised by everything that is kept of it.
    #[serde(default)]
    pub kept: u64,
    /// Forms that have no result yet; none where it never asked anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_calls: Option<u32>,
    /// Since when it waits for them, or when it last began to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Time>,
    /// The lease of the worker that paused it: the token of a lost answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<LeaseId>,
    /// How long it has waited in all, in milliseconds.
    #[serde(default)]
    pub waited_ms: u64,
    /// What was tried for an answer when it was last handed over in the middle of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Tried>,
    /// When it was queued.
    pub created_at: Time,
    /// When it was first claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
    /// How long its worker is believed to live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Time>,
    /// The token of whoever ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<LeaseId>,
    /// That someone must come back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
    /// When it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    pub(crate) g2pk: String,
    pub(crate) g2sk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3sk: Option<String>,
}

/// How far the tries of one answer had come when their run was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// Of the answer of this step; to any other it says nothing.
    pub step: u32,
    /// How far, as who tries counts it.
    pub stage: u32,
    /// Nobody is to be asked before.
    pub again_at: Time,
}

/// What woke a run; what that said is kept by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum WokenBy {
    /// A message.
    Message {
        /// In this space.
        space_id: SpaceId,
        /// Its number there.
        seq: u64,
        /// Its id.
        message_id: MessageId,
        /// Why it woke the agent.
        source: Source,
    },
    /// A plan.
    Plan {
        /// Which.
        plan_id: PlanId,
        /// At which of its times.
        scheduled_at: Time,
    },
    /// A service.
    Delivery {
        /// By this delivery.
        delivery_id: DeliveryId,
    },
}

/// The copy of an active run in its agent's context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveRecord {
    /// The run.
    pub run_id: RunId,
    /// What woke it, in short.
    #[serde(flatten)]
    pub cause: ActiveCause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3sk: Option<String>,
}

/// What woke an active run, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ActiveCause {
    /// Someone said something.
    Message {
        /// Where.
        space_id: SpaceId,
        /// The space's name then.
        space_name: String,
        /// Who.
        sender: Sender,
        /// The first 200 characters of it.
        text: String,
    },
    /// A plan.
    Plan {
        /// Its name then.
        plan_name: String,
    },
    /// A service.
    Service {
        /// Its name.
        service_name: String,
    },
}

impl ActiveCause {
    /// The space that woke the run.
    pub fn space_id(&self) -> Option<SpaceId> {
        if let Self::Message { space_id, .. } = self { Some(*space_id) } else { None }
    }
}

impl RunRecord {
    /// A run that is queued now.
    pub fn queued(id: RunId, agent_id: EntityId, woken_by: WokenBy, chain_depth: u32, now: Time) -> Self {
        let space = if let WokenBy::Message { space_id, .. } = woken_by { Some(space_id) } else { None };
        Self {
            id,
            agent_id,
            status: RunStatus::Queued,
            end_reason: None,
            woken_by,
            chain_depth,
            attempt: 1,
            claims: 0,
            step_count: 0,
            active_space_id: space,
            usage: Usage::default(),
            kept: 0,
            open_calls: None,
            paused_at: None,
            paused_by: None,
            waited_ms: 0,
            tried: None,
            created_at: now,
            started_at: None,
            finished_at: None,
            lease: None,
            lease_until: None,
            ended_by: None,
            due: Some(keys::due(id.part_of(keys::DUE_PARTS))),
            due_at: Some(now + lease::QUEUED_DUE),
            expires_at: None,
            g2pk: keys::runs_of_agent(agent_id),
            g2sk: id.to_string(),
            g3pk: space.map(keys::runs_of_space),
            g3sk: space.map(|_| id.to_string()),
        }
    }

    /// A run that is queued now, woken by `message`.
    pub fn woken(id: RunId, agent_id: EntityId, space_id: SpaceId, message: &MessageRecord, source: Source, now: Time) -> Self {
        let woken_by = WokenBy::Message { space_id, seq: message.seq, message_id: message.id, source };
        Self::queued(id, agent_id, woken_by, message.chain_depth, now)
    }

    /// The space that woke it; none where a plan or a service did.
    pub fn space_id(&self) -> Option<SpaceId> {
        self.place().map(|place| place.space_id)
    }

    /// The message that woke it; none where a plan or a service did.
    pub fn place(&self) -> Option<Place> {
        if let WokenBy::Message { space_id, seq, .. } = self.woken_by { Some(Place { space_id, seq }) } else { None }
    }

    /// Whether another agent handed its trigger on.
    pub fn is_delegated(&self) -> bool {
        matches!(self.woken_by, WokenBy::Message { source: Source::Delegated, .. })
    }

    /// The job that goes on with it.
    pub fn job(&self) -> RunJob {
        RunJob::Run { run_id: self.id, agent_id: self.agent_id, place: self.place() }
    }

    /// As the API shows it.
    pub fn view(&self, trigger: Trigger, error: Option<RunError>) -> Run {
        Run {
            id: self.id,
            agent_id: self.agent_id,
            status: self.status,
            end_reason: self.end_reason,
            trigger,
            active_space_id: self.active_space_id,
            chain_depth: self.chain_depth,
            attempt: self.attempt,
            step_count: self.step_count,
            usage: self.usage,
            error,
            created_at: self.created_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
            steps: None,
        }
    }

    /// Whether its worker gave it back, and nobody has gone on with it yet.
    pub fn is_given_back(&self) -> bool {
        self.status == RunStatus::Running && self.lease.is_none()
    }

    /// From when on another worker may take it over.
    pub fn free_at(&self) -> Time {
        self.lease_until.map_or(Time::default(), |until| until + lease::GRACE)
    }
}

impl ActiveRecord {
    /// The copy of a run.
    pub fn new(run: &RunRecord, cause: ActiveCause) -> Self {
        let space = cause.space_id();
        Self { run_id: run.id, cause, g3pk: space.map(keys::active_in_space), g3sk: space.map(|_| run.id.to_string()) }
    }

    /// The copy of a run that `message` wakes in a space of this name.
    pub fn woken(run: &RunRecord, space_id: SpaceId, space_name: &str, message: &MessageRecord) -> Self {
        let (space_name, sender, text) = (space_name.to_owned(), message.sender.clone(), short(&message.text));
        Self::new(run, ActiveCause::Message { space_id, space_name, sender, text })
    }
}

impl Store {
    /// A run, as it is kept.
    pub async fn run_record(&self, id: RunId) -> Result<RunRecord> {
        let record: Option<RunRecord> = self.table.get(&keys::run_meta(id)).await?;
        record.ok_or_else(no_such_run)
    }

    /// A run as the API shows it, without steps.
    pub async fn run(&self, record: &RunRecord) -> Result<Run> {
        let mut runs = self.views(std::slice::from_ref(record)).await?;
        runs.pop().ok_or_else(|| Error::Internal("a run has no view".into()))
    }

    async fn views(&self, records: &[RunRecord]) -> Result<Vec<Run>> {
        let failed: Vec<_> = records.iter().filter(|run| run.status == RunStatus::Failed).map(|run| keys::run_error(run.id)).collect();
        let (triggers, mut errors) = futures::try_join!(self.triggers_of(records), self.table.get_all(&failed))?;
        let each = records.iter().zip(triggers);
        each.map(|(record, trigger)| Ok(record.view(trigger, errors.take(&keys::run_error(record.id))?))).collect()
    }

    /// An agent's runs, newest first.
    pub async fn runs_of_agent(&self, agent: EntityId, status: Option<RunStatus>, ask: &Ask) -> Result<Page<Run>> {
        self.runs_in("GSI2", ("g2pk", "g2sk"), keys::runs_of_agent(agent), status, ask).await
    }

    /// The runs that a space woke, newest first.
    pub async fn runs_of_space(&self, space: SpaceId, ask: &Ask) -> Result<Page<Run>> {
        self.runs_in("GSI3", ("g3pk", "g3sk"), keys::runs_of_space(space), None, ask).await
    }

    async fn runs_in(
        &self,
        index: &'static str,
        names: (&'static str, &'static str),
        pk: String,
        status: Option<RunStatus>,
        ask: &Ask,
    ) -> Result<Page<Run>> {
        let after = ask.after(names, &pk)?;
        let page = self.table.page(Query::of_index(index, names, pk).newest_first().limit(ask.limit()?).after(after)).await?;
        let wanted = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let mut found = self.table.get_all(&wanted).await?;
        let mut records = Vec::with_capacity(wanted.len());
        let mut entries = Vec::with_capacity(wanted.len());
        for (key, entry) in wanted.iter().zip(page.items) {
            let record: Option<RunRecord> = found.take(key)?;
            if let Some(record) = record.filter(|record| status.is_none_or(|status| record.status == status)) {
                records.push(record);
                entries.push(entry);
            }
        }
        Ok(Page::cut(entries.into_iter().zip(self.views(&records).await?), page.next, names.1))
    }

    /// Lists a run that no space woke among those that are active in a space that it has entered.
    pub async fn show_active(&self, run: &RunRecord, space: SpaceId) -> Result<()> {
        let write = Write::update(keys::active_run(run.agent_id, run.id), "SET #g3pk = :pk, #g3sk = :sk");
        self.table.write_where_it_holds(write.value(":pk", keys::active_in_space(space))?.value(":sk", run.id)?).await
    }

    /// Runs that are queued, running or waiting in a space: those that it woke, and others that have entered it.
    pub async fn active_in_space(&self, space: SpaceId) -> Result<Vec<RunRecord>> {
        let query = Query::of_index("GSI3", ("g3pk", "g3sk"), keys::active_in_space(space));
        let mut wanted = Vec::new();
        for item in self.table.all(query).await? {
            wanted.extend(key_of(&item)?.sk.strip_prefix(keys::ACTIVE_RUN).and_then(|id| id.parse().ok()).map(keys::run_meta));
        }
        self.active_records(&wanted).await
    }

    /// Those of an agent's runs that are active still.
    pub async fn records_of(&self, active: &[ActiveRecord]) -> Result<Vec<RunRecord>> {
        let wanted: Vec<_> = active.iter().map(|active| keys::run_meta(active.run_id)).collect();
        self.active_records(&wanted).await
    }

    async fn active_records(&self, wanted: &[keys::Key]) -> Result<Vec<RunRecord>> {
        let mut found = self.table.get_all(wanted).await?;
        let mut runs = Vec::with_capacity(wanted.len());
        for key in wanted {
            let run: Option<RunRecord> = found.take(key)?;
            runs.extend(run.filter(|run| run.status.is_active()));
        }
        Ok(runs)
    }

    /// Queues the run of a decided dispatch, unless it is there already: then it was queued before. Whether it is new.
    pub async fn create_run(&self, run: &RunRecord, active: &ActiveRecord) -> Result<bool> {
        let writes = [Write::put(keys::run_meta(run.id), run)?.if_absent(), Write::put(keys::active_run(run.agent_id, run.id), active)?];
        match self.table.transact(&writes).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(refusal)) => {
                Ok(refusal.there::<RunRecord>(&keys::run_meta(run.id)).is_some_and(|there| there.status == RunStatus::Queued))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// There is none with this id, or who asks may not know of it.
pub fn no_such_run() -> Error {
    Error::NotFound("there is no such run".into())
}

/// As the API tells which runs are active.
pub fn active_view(run: &RunRecord) -> ActiveRun {
    ActiveRun { run_id: run.id, agent_id: run.agent_id, status: run.status }
}
