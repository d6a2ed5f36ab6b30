//! A run: what an agent does after it was triggered.
//!
//! The way of a run through this crate, top down:
//!
//! 1. [`Runs::handle`] claims the run; `shared_jobs` does that for several runs of one job. At the
//!    same time `prompt::reading` reads what the prompt needs. `claimed` assembles what the worker
//!    needs. `early_end` ends a run that nobody can work on.
//! 2. `agent_loop::worker` holds the lease, drives the loop, and stops when it loses the run.
//! 3. `prompt` writes the prompt.
//! 4. `agent_loop::steps` is the loop: ask the model, store its answer, run its calls, store their
//!    results. `agent_loop::state` is the state between two steps. There the `watchers` look,
//!    and `agent_loop::news` reads new messages.
//! 5. `agent_loop::model_answer` reads one model answer. `streaming` shows its text in the space
//!    while the model writes it.
//! 6. `tools` are what an agent can do.
//!
//! `remote` hands a run on to an agent that works elsewhere.
//!
//! `dry_run` lets a fork work: the same loop, in which calls are answered from what the other run
//! did.
//!
//! The modules are a stack: `run_context` uses `streaming`; `prompt`, `watchers` and `tools` are
//! above it; `agent_loop` uses all of them, and none of them uses it.
//!
//! `prompt::summary` works outside of runs: it summarizes older history.
//! [`counters`] counts work in progress.

mod agent_loop;
mod claimed;
pub mod counters;
mod dry_run;
mod early_end;
mod model_files;
mod prompt;
mod remote;
mod run_context;
mod shared_jobs;
mod streaming;
mod tools;
mod watchers;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Error, Result,
    jobs::{RunJob, RunRef},
    limits::lease,
    prices::Prices,
    runs::RunStatus,
};
use smartspace_egress::{Egress, mcp::McpServers};
use smartspace_models::port::Model;
use smartspace_pipeline::Pipeline;
use smartspace_ports::{queues::Delivery, sockets::Sockets};
use smartspace_store::runs::{RunRecord, TriggeredBy, claims::Claim};
use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};

pub use crate::remote::Callbacks;
use crate::{
    agent_loop::worker::ClaimKind,
    claimed::Claimed,
    prompt::{
        reading::{Gathered, Seen, gather},
        summary::Summarizer,
    },
};

/// If the lease of another worker ends within this time, the job is delivered again, because that
/// worker may be dead.
const ENDS_SOON: Duration = Duration::from_secs(10);

/// How long the queue hides a job from other workers: until another one may take over, if this one
/// dies.
pub(crate) const JOB_HIDDEN_FOR: Duration =
    Duration::from_secs(1 + lease::LASTS.as_secs() + lease::GRACE.as_secs());

/// Works on runs.
pub struct Runs {
    pipeline: Pipeline,
    sockets: Arc<dyn Sockets>,
    models: Arc<dyn Model>,
    egress: Egress,
    mcp: McpServers,
    prices: Arc<Prices>,
    callbacks: Callbacks,
    stopping: watch::Receiver<bool>,
    seen: Seen,
}

impl Runs {
    /// Makes a worker for runs. When `stopping` turns true, it gives its leases back.
    pub fn new(
        pipeline: Pipeline,
        sockets: Arc<dyn Sockets>,
        models: Arc<dyn Model>,
        egress: Egress,
        prices: Arc<Prices>,
        callbacks: Callbacks,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let mcp = McpServers::new(egress.clone());
        let seen = Seen::default();
        Self { pipeline, sockets, models, egress, mcp, prices, callbacks, stopping, seen }
    }

    /// Claims the runs of a job and works on them to their end, or writes a summary. A job may be
    /// delivered repeatedly, and to several processes at once.
    ///
    /// # Errors
    /// [`Error::Retry`] if the job should be delivered again.
    pub async fn handle(&self, job: &RunJob, delivery: &dyn Delivery) -> Result<()> {
        if *self.stopping.borrow() {
            return Err(Error::Retry(
                "the process is stopping; another one continues the run".into(),
            ));
        }
        match job {
            RunJob::Run { run, also } if also.is_empty() => {
                Box::pin(self.claim(*run, delivery)).await
            }
            RunJob::Run { run, also } => {
                let runs = [run].into_iter().chain(also).copied().collect();
                Box::pin(self.handle_together(runs, delivery)).await;
                Ok(())
            }
            &RunJob::Summarize { space_id, agent_id, to } => {
                let summarizer = Summarizer {
                    pipeline: &self.pipeline,
                    models: &*self.models,
                    prices: &self.prices,
                };
                Box::pin(summarizer.handle(space_id, agent_id, to, delivery)).await
            }
        }
    }

    /// Claims a run and works on it, if it is the run's turn.
    async fn claim(&self, run_ref: RunRef, delivery: &dyn Delivery) -> Result<()> {
        let store = &self.pipeline.store;
        let lease = self.pipeline.token();
        let now = self.pipeline.now();
        let at = Instant::now();
        // The sources are read while the run is claimed, because most claims succeed.
        let (tell, told) = oneshot::channel();
        let read = async {
            match run_ref.place {
                Some(_) => told.await.ok().flatten(),
                None => store.runs().record(run_ref.run_id).await.ok(),
            }
        };
        let claiming = Box::pin(store.runs().claim(&run_ref, &lease, now, read));
        let (claim, gathered) = futures::join!(claiming, self.gather(run_ref, tell));
        match claim? {
            Claim::Ended => Ok(()),
            Claim::Busy { until } if until.since(now) > ENDS_SOON => Ok(()),
            Claim::Busy { .. } => Err(Error::Retry(
                "the lease of another worker has not expired, or only just did".into(),
            )),
            Claim::TooOften(run) => self.end_early(&run, &lease, RunStatus::Failed).await,
            Claim::Remote => Ok(()),
            Claim::Unsent(run) => Box::pin(self.send_again(&run)).await,
            Claim::Overdue(run) => self.end_overdue(&run).await,
            Claim::Waiting(run) => self.expire_forms(&run).await,
            Claim::NotYet { run, position, is_new } => {
                if is_new {
                    self.pipeline.announce_queued(&run, position).await;
                }
                Ok(())
            }
            Claim::Ours { run, .. } if run.triggered_by == (TriggeredBy::Unknown {}) => {
                store.runs().give_back(run.id, &lease, self.pipeline.now()).await?;
                Err(Error::Retry("the run has a cause that only a later version knows".into()))
            }
            Claim::Ours { run, first, resumed } => {
                if let Some(fork) = run.fork_of() {
                    let claimed = Claimed { run: *run, lease, at, kind: ClaimKind::Again };
                    return Box::pin(self.work_on_fork(claimed, fork, delivery)).await;
                }
                match self.gathered(gathered, run_ref, &run).await {
                    Ok(Some(gathered)) => {
                        let kind = if first {
                            ClaimKind::First
                        } else if resumed {
                            ClaimKind::Resumed
                        } else {
                            ClaimKind::Again
                        };
                        let claimed = Claimed { run: *run, lease, at, kind };
                        Box::pin(self.work_on(claimed, gathered, delivery)).await
                    }
                    Ok(None) => self.end_early(&run, &lease, RunStatus::Canceled).await,
                    Err(error) => {
                        store.runs().give_back(run.id, &lease, self.pipeline.now()).await?;
                        Err(error)
                    }
                }
            }
        }
    }

    /// Reads the sources of the prompt of a run.
    async fn gather(
        &self,
        run: RunRef,
        tell: oneshot::Sender<Option<RunRecord>>,
    ) -> Result<Option<Gathered>> {
        Box::pin(gather(&self.pipeline.store, &self.seen, run, tell)).await
    }

    /// The sources of the prompt of a claimed run. They are read again if a newer message has
    /// joined the run since its job was queued.
    async fn gathered(
        &self,
        gathered: Result<Option<Gathered>>,
        read_for: RunRef,
        run: &RunRecord,
    ) -> Result<Option<Gathered>> {
        let gathered = if run.place() == read_for.place {
            gathered
        } else {
            self.gather(run.to_ref(), oneshot::channel().0).await
        };
        Ok(gathered?.map(|gathered| gathered.joined_by(&run.joined)))
    }

    /// Expires forms of a waiting run whose time is up. The run continues after the last one.
    async fn expire_forms(&self, run: &RunRecord) -> Result<()> {
        if let Some(next) = self.pipeline.expire_forms(run.id).await? {
            self.pipeline.store.runs().keep_waiting(run, next).await?;
            self.pipeline.wake_at(run.id, next).await;
            return Ok(());
        }
        let now = self.pipeline.store.runs().record(run.id).await?;
        if now.status == RunStatus::WaitingTool && now.open_calls != Some(0) {
            // Queued at once, the run would be found waiting again, and again. It stays due, so
            // `sweep` tries again with growing pauses, and in the end gives it up with an alarm.
            tracing::warn!(run = %run.id, "a run waits for calls that nobody can answer");
            return Ok(());
        }
        self.pipeline.queue_runs(vec![run.job()]).await;
        Ok(())
    }
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").finish_non_exhaustive()
    }
}
