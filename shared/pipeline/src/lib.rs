//! The operations on spaces that several functions share: store first, then notify. `api`,
//! `socket`, `run` and `trigger` all post messages, and only through this crate.
//!
//! A change takes effect when it is stored. Queueing afterwards only makes the next step faster: if
//! a queue does not take a job, the job is due in the table and `sweep` finds it.
//!
//! - [`access`]: whether a caller may do something
//! - `blocks`: builds the blocks of words that searches read
//! - [`post`]: posts a message, queues the runs that it triggered, and notifies followers
//! - [`spending`]: pays for model calls from budgets
//! - [`cancel`]: cancels a run
//! - [`changing`]: edits and deletes messages
//! - `client_pages`: tools that the page of a sender offers to agents
//! - [`files`]: uploads, downloads, and files that messages name
//! - `forgetting`: removes what was stored elsewhere of deleted messages
//! - [`forks`]: lets a run be tried again without effects
//! - [`forms`]: answers, expires and closes forms
//! - [`frames`]: sends one frame to one connection
//! - [`inbox`]: the cards that wait for a caller, of all of its spaces
//! - [`invites`]: invites to spaces
//! - [`mentions`]: the messages that name a person, of all of its spaces
//! - [`pins`]: pinned messages
//! - [`plans`], [`services`]: triggers besides messages
//! - [`presence`]: who is present in a space
//! - [`questions`]: looks after questions that nobody has answered
//! - [`rates`]: rate limits
//! - [`retries`]: repeats a run
//! - [`reactions`]: reactions to messages
//! - [`reads`]: read positions
//! - [`search`]: searches of messages
//! - [`membership`]: joining and leaving, and their consequences
//! - [`lanes`]: what follows when runs start, wait, or are replaced
//! - [`stops`]: stops a chain, or everything in a space
//! - [`settle`]: finishes a change of an entity or a deletion of a space
//!
//! `docs/internals/` has pages on budgets, files, lanes and members.

pub mod access;
mod allowances;
mod approvals;
mod blocks;
pub mod cancel;
pub mod changing;
mod client_pages;
pub mod endings;
pub mod files;
pub mod followers;
mod forgetting;
pub mod forks;
pub mod forms;
pub mod frames;
pub mod inbox;
pub mod invites;
pub mod lanes;
pub mod membership;
pub mod mentions;
pub mod pins;
pub mod plans;
pub mod post;
pub mod presence;
pub mod questions;
pub mod rates;
pub mod reactions;
pub mod reads;
pub mod remote;
pub mod retries;
pub mod search;
pub mod services;
pub mod settle;
pub mod spending;
pub mod stops;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Result, Time,
    events::{Event, EventKind},
    ids::{LeaseId, SpaceId},
    jobs::{BroadcastJob, Job, RunJob, TriggerJob},
    runs::Run,
};
use smartspace_ports::{
    alarms::Alarms, cancel_signal::CancelSignal, clock::Clock, files::Files, ids::IdSource,
    queues::Queue, trace::TraceParent,
};
use smartspace_store::{Store, runs::RunRecord};

/// How long after its end the trace of a run is exported: when the caller has its answer.
const EXPORTED_AFTER: Duration = Duration::from_secs(1);
/// Among how many of the newest lines those of a change are looked for.
const NEWEST_LINES: usize = 8;

/// The table and the ports.
#[derive(Clone)]
pub struct Pipeline {
    pub store: Store,
    /// The queue of runs to work on.
    pub runs: Arc<dyn Queue<RunJob>>,
    /// The queue of events for WebSocket connections.
    pub broadcasts: Arc<dyn Queue<BroadcastJob>>,
    /// The queue of work that takes longer than a request.
    pub triggers: Arc<dyn Queue<TriggerJob>>,
    /// Starts jobs at a given time.
    pub alarms: Arc<dyn Alarms>,
    /// Notifies workers in the same process that a run was canceled.
    pub cancel_signal: Arc<dyn CancelSignal>,
    pub clock: Arc<dyn Clock>,
    pub files: Arc<dyn Files>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// Whether callers that send too many requests are refused.
    pub is_rate_limited: bool,
}

impl Pipeline {
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// A random token that identifies a write, created before its first attempt.
    pub fn token(&self) -> LeaseId {
        LeaseId::new(self.ids.random())
    }

    /// Queues stored runs.
    pub async fn queue_runs(&self, jobs: Vec<RunJob>) {
        queue(&*self.runs, jobs).await;
    }

    /// Queues work that takes longer than a request.
    pub async fn queue_triggers(&self, jobs: Vec<TriggerJob>) {
        queue(&*self.triggers, jobs).await;
    }

    /// The spaces that show a run: the space that triggered it. If a plan or a service triggered
    /// it, the spaces that it has entered, or in which it has shown a card. No space shows a fork.
    pub async fn shown_in(&self, run: &RunRecord) -> Result<Vec<SpaceId>> {
        match run.space_id() {
            Some(space) => Ok(vec![space]),
            None if run.fork_of().is_some() => Ok(Vec::new()),
            None => self.store.steps().spaces_shown_in(run.id).await,
        }
    }

    /// Notifies the followers of every space that shows a run.
    pub async fn announce_run(
        &self,
        record: &RunRecord,
        run: Run,
        what: impl Fn(Box<Run>) -> EventKind,
    ) {
        self.announce_where_shown(record, run, |_, run| what(run)).await;
    }

    /// The same with an event for each space. Returns the spaces.
    pub(crate) async fn announce_where_shown(
        &self,
        record: &RunRecord,
        run: Run,
        what: impl Fn(SpaceId, Box<Run>) -> EventKind,
    ) -> Vec<SpaceId> {
        let shown = self.shown_in(record).await;
        match &shown {
            Ok(spaces) => {
                for space in spaces {
                    self.announce(*space, what(*space, Box::new(run.clone()))).await;
                }
                if record.space_id().is_none() && !record.status.is_active() {
                    self.store.runs().hide_ended(record.id, spaces).await;
                }
            }
            Err(error) => {
                tracing::warn!(run = %record.id, %error, "nobody was notified of a run's change");
            }
        }
        self.export_ended(record).await;
        shown.unwrap_or_default()
    }

    /// Lets the trace of a run be exported, if it has ended. A lost job loses the trace and nothing
    /// else.
    async fn export_ended(&self, run: &RunRecord) {
        let trace = run.trace.as_deref().and_then(TraceParent::read);
        if run.status.is_active() || !trace.is_some_and(|trace| trace.is_sampled()) {
            return;
        }
        let job = TriggerJob::ExportTrace { run_id: run.id, failed: 0 };
        self.alarms.set(self.now() + EXPORTED_AFTER, job).await;
    }

    /// Notifies the followers of a space of the lines of a change that was made at `at`. The lines
    /// are in the table, so a failure is only logged.
    pub async fn announce_lines(&self, space: SpaceId, at: Time) {
        match self.store.spaces().lines(space, 0, u64::MAX, NEWEST_LINES).await {
            Ok(lines) => {
                for line in lines.into_iter().filter(|line| line.at == at) {
                    self.announce(space, EventKind::SpaceLine { line }).await;
                }
            }
            Err(error) => tracing::warn!(%space, %error, "nobody was notified of a line"),
        }
    }

    /// Notifies the followers of a space.
    pub async fn announce(&self, space_id: SpaceId, what: EventKind) {
        queue(&*self.broadcasts, vec![self.event(space_id, what).into()]).await;
    }

    fn event(&self, space_id: SpaceId, what: EventKind) -> Event {
        Event { space_id, at: self.now(), what: what.without_trigger_texts() }
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").finish_non_exhaustive()
    }
}

/// Queues jobs. A failure is only logged, because the jobs are due in the table.
pub(crate) async fn queue<J: Job>(queue: &dyn Queue<J>, jobs: Vec<J>) {
    if jobs.is_empty() {
        return;
    }
    let count = jobs.len();
    if let Err(error) = queue.send(jobs).await {
        tracing::warn!(
            event = "jobs_not_queued",
            %error,
            count,
            "jobs were not queued; sweep finds them when they are due"
        );
    }
}
