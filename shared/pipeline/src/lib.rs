//! What more than one function does with a space: keep it first, then tell. `api`, `socket`, `run` and `trigger` all post messages; they do
//! it here, and only here.
//!
//! What is kept counts. Queueing behind it only makes things faster: a job that a queue did not take is found again by what is due.
//!
//! - [`access`]: whether a caller may do what it asks for
//! - [`post`]: a message, whom it wakes, and who is told
//! - [`cancel`]: the end of a run from outside
//! - [`forms`]: who answers one, and what becomes of it when nobody does
//! - [`frames`]: one frame for one connection
//! - [`plans`], [`services`]: what wakes an agent besides messages
//! - [`rates`]: how often somebody may call
//! - [`membership`]: joining and leaving, and what follows from it
//! - [`settle`]: what a change of an entity or a space leaves to be done

pub mod access;
pub mod cancel;
pub mod forms;
pub mod frames;
pub mod membership;
pub mod plans;
pub mod post;
pub mod rates;
pub mod services;
pub mod settle;

use std::sync::Arc;

use smartspace_domain::{
    Result, Time,
    events::{Event, Happening},
    ids::{LeaseId, SpaceId},
    jobs::{BroadcastJob, Job, RunJob, TriggerJob},
    runs::Run,
};
use smartspace_edges::{alarms::Alarms, bell::Bell, clock::Clock, ids::Ids, queues::Queue};
use smartspace_store::{Store, runs::RunRecord};

/// The table and the edges that all of this needs.
#[derive(Clone)]
pub struct Pipeline {
    /// The table.
    pub store: Store,
    /// Runs to be worked on.
    pub runs: Arc<dyn Queue<RunJob>>,
    /// What browsers are told.
    pub broadcasts: Arc<dyn Queue<BroadcastJob>>,
    /// What takes longer.
    pub triggers: Arc<dyn Queue<TriggerJob>>,
    /// What comes at a time.
    pub alarms: Arc<dyn Alarms>,
    /// Tells workers in the same process that a run was canceled.
    pub bell: Arc<dyn Bell>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn Ids>,
    /// Who calls too often is refused.
    pub is_rate_limited: bool,
}

impl Pipeline {
    /// Now.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// A token made before a first try.
    pub fn token(&self) -> LeaseId {
        LeaseId::new(self.ids.random())
    }

    /// Queues runs that are kept.
    pub async fn queue_runs(&self, jobs: Vec<RunJob>) {
        queue(&*self.runs, jobs).await;
    }

    /// Queues what takes longer.
    pub async fn queue_triggers(&self, jobs: Vec<TriggerJob>) {
        queue(&*self.triggers, jobs).await;
    }

    /// The spaces where a run shows: the one that woke it; of a run that a plan or a service woke those that it has entered.
    pub async fn shown_in(&self, run: &RunRecord) -> Result<Vec<SpaceId>> {
        match run.space_id() {
            Some(space) => Ok(vec![space]),
            None => self.store.spaces_entered(run.id).await,
        }
    }

    /// Tells everyone who follows a space where a run shows what became of it. Where no space woke it they are told what kind of thing did.
    pub async fn announce_run(&self, record: &RunRecord, run: Run, what: impl Fn(Box<Run>) -> Happening) {
        let run = if record.space_id().is_none() { run.without_trigger() } else { run };
        match self.shown_in(record).await {
            Ok(spaces) => {
                for space in spaces {
                    self.announce(space, what(Box::new(run.clone()))).await;
                }
            }
            Err(error) => tracing::warn!(run = %record.id, %error, "nobody was told what became of a run"),
        }
    }

    /// Tells everyone who follows the space.
    pub async fn announce(&self, space_id: SpaceId, what: Happening) {
        let event = Event { space_id, at: self.now(), what };
        queue(&*self.broadcasts, vec![BroadcastJob::Event { event: Box::new(event) }]).await;
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").finish_non_exhaustive()
    }
}

/// Queues jobs; what the queue does not take is only said in the log, since the table knows of it.
pub(crate) async fn queue<J: Job>(queue: &dyn Queue<J>, jobs: Vec<J>) {
    if jobs.is_empty() {
        return;
    }
    let count = jobs.len();
    if let Err(error) = queue.send(jobs).await {
        tracing::warn!(event = "jobs_not_queued", %error, count, "jobs were not queued; what is due finds them");
    }
}
