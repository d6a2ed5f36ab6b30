//! A run: what an agent does once it is woken.
//!
//! The way of a run through this crate, top down:
//!
//! - [`Runs::handle`] claims it while [`context::reading`] already reads what its prompt needs
//! - [`worker`] holds the lease beside the loop, and stops when the run is not ours any more
//! - [`context`] writes the prompt
//! - [`steps`] is the loop: ask, keep, call, keep; [`state`] is where it stands between two steps, when the [`watchers`] look and [`news`] is read
//! - [`answer`] listens to the model; [`stream`] posts what it says while it says it
//! - [`tools`] is what an agent can do
//!
//! Beside runs, [`summary`] writes down what older history says; [`counted`] counts what is being done.

mod answer;
mod context;
pub mod counted;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod news;
mod state;
mod steps;
mod stream;
mod summary;
mod tools;
mod watchers;
mod worker;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Error, Result,
    events::Happening,
    ids::LeaseId,
    jobs::RunJob,
    prices::Prices,
    runs::{EndReason, FailureCode, RunError, RunStatus},
    triggers::Trigger,
};
use smartspace_edges::{queues::Delivery, sockets::Sockets};
use smartspace_egress::{Egress, Trail, mcp::McpServers};
use smartspace_models::port::Model;
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    claims::Claim,
    endings::Ending,
    runs::RunRecord,
    steps::{Marks, Progress},
    triggers,
};
use tokio::{sync::watch, time::Instant};

use crate::{
    context::reading::{Gathered, Seen, gather},
    stream::{Air, OpenStreams},
    summary::Summarizer,
    tools::{mcp::McpTools, toolbox::Toolbox},
    worker::Worker,
};

/// A delivery that finds a lease which ends this soon comes again instead of being acknowledged: it may be the one of a dead worker.
const ALMOST_FREE: Duration = Duration::from_secs(10);

/// How a worker came to its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begun {
    /// Nobody had it before.
    First,
    /// It waited for people.
    Resumed,
    /// Another worker had it.
    Again,
}

/// What this function needs.
pub struct Runs {
    pipeline: Pipeline,
    sockets: Arc<dyn Sockets>,
    models: Arc<dyn Model>,
    egress: Egress,
    mcp: McpServers,
    prices: Arc<Prices>,
    stopping: watch::Receiver<bool>,
    seen: Seen,
}

impl Runs {
    /// Works on runs until `stopping` says that the process ends: then leases are given back.
    pub fn new(
        pipeline: Pipeline,
        sockets: Arc<dyn Sockets>,
        models: Arc<dyn Model>,
        egress: Egress,
        prices: Arc<Prices>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let mcp = McpServers::new(egress.clone());
        Self { pipeline, sockets, models, egress, mcp, prices, stopping, seen: Seen::default() }
    }

    /// Claims a run and works on it to its end, or writes a summary. May be repeated; may be delivered to several at once.
    ///
    /// # Errors
    /// [`Error::Retry`] where the job should come again.
    pub async fn handle(&self, job: &RunJob, delivery: &dyn Delivery) -> Result<()> {
        if *self.stopping.borrow() {
            return Err(Error::Retry("the process ends; the run goes on elsewhere".into()));
        }
        let (run_id, agent_id, place) = match *job {
            RunJob::Run { run_id, agent_id, place } => (run_id, agent_id, place),
            RunJob::Summarize { space_id, agent_id, to } => {
                return Summarizer { pipeline: &self.pipeline, models: &*self.models, prices: &self.prices }
                    .handle(space_id, agent_id, to)
                    .await;
            }
        };
        let (store, lease, now) = (&self.pipeline.store, self.pipeline.token(), self.pipeline.now());
        let claimed = Instant::now();
        let reading = Box::pin(gather(store, &self.seen, run_id, agent_id, place));
        // Reading while claiming: most claims succeed.
        let (claim, gathered) = futures::join!(store.claim(run_id, &lease, now), reading);
        match claim? {
            Claim::Ended => Ok(()),
            Claim::Busy { until } if until.since(now) > ALMOST_FREE => Ok(()),
            Claim::Busy { .. } => Err(Error::Retry("another worker has the run, or had it until just now".into())),
            Claim::TooOften(run) => self.end_early(&run, &lease, RunStatus::Failed).await,
            Claim::Waiting(run) => self.look_at_forms(&run).await,
            Claim::Ours { run, first, resumed } => match gathered {
                Ok(Some(gathered)) => {
                    let began = if first {
                        Begun::First
                    } else if resumed {
                        Begun::Resumed
                    } else {
                        Begun::Again
                    };
                    Box::pin(self.work_on(*run, (lease, claimed), began, gathered, delivery)).await
                }
                Ok(None) => self.end_early(&run, &lease, RunStatus::Canceled).await,
                Err(error) => {
                    store.give_back(run.id, &lease, self.pipeline.now()).await?;
                    Err(error)
                }
            },
        }
    }

    /// A run waits for people: those forms expire whose time is up, and where that was the last one the run goes on.
    async fn look_at_forms(&self, run: &RunRecord) -> Result<()> {
        if let Some(next) = self.pipeline.expire_forms(run.id).await? {
            self.pipeline.store.keep_waiting(run, next).await?;
            self.pipeline.wake_at(run.id, next).await;
            return Ok(());
        }
        self.pipeline.queue_runs(vec![run.job()]).await;
        Ok(())
    }

    async fn work_on(
        &self,
        run: RunRecord,
        (lease, claimed): (LeaseId, Instant),
        began: Begun,
        gathered: Gathered,
        delivery: &dyn Delivery,
    ) -> Result<()> {
        // A first claim has no steps to read.
        let progress = if began == Begun::First { Progress::default() } else { self.pipeline.store.progress(run.id).await? };
        let Some(config) = gathered.agent.agent.clone() else { return self.end_early(&run, &lease, RunStatus::Canceled).await };
        let trigger = self.trigger(&run, &gathered).await?;
        let trail = Trail { run: run.id, depth: run.chain_depth + 1 };
        let mut servers = McpTools::of(&self.mcp, &config.mcp.servers, &trail).await;
        let air = Air { store: self.pipeline.store.clone(), sockets: Arc::clone(&self.sockets), clock: Arc::clone(&self.pipeline.clock) };
        let worker = Worker {
            pipeline: self.pipeline.clone(),
            models: Arc::clone(&self.models),
            air,
            stopping: self.stopping.clone(),
            run,
            lease,
            claimed,
            ends_at: delivery.ends_at(),
            prices: Arc::clone(&self.prices),
            tools: Toolbox::new(&config.tools, std::mem::take(&mut servers.tools)),
            egress: self.egress.clone(),
            outside: watch::Sender::new(0),
            trouble: std::mem::take(&mut servers.trouble),
            name: gathered.agent.name.clone(),
            at_home: gathered.space_count == 1,
            config,
            trigger,
            writing: tokio::sync::Mutex::default(),
            streams: OpenStreams::default(),
        };
        let result = Box::pin(worker.work(&gathered, progress, began, delivery)).await;
        servers.close().await;
        result
    }

    /// What woke a run: mostly a message that was read with the history.
    async fn trigger(&self, run: &RunRecord, gathered: &Gathered) -> Result<Trigger> {
        let store = &self.pipeline.store;
        match &gathered.place {
            Some(place) => Ok(triggers::of_message(run, &place.space.settings.name, &place.trigger, store.delegation(run).await?)),
            None => store.trigger_of(run).await,
        }
    }

    /// Ends a run that can't be worked on: its workers died too often, or its agent is gone.
    async fn end_early(&self, run: &RunRecord, lease: &LeaseId, status: RunStatus) -> Result<()> {
        let failed = status == RunStatus::Failed;
        let error = failed.then(|| RunError {
            code: FailureCode::Attempts,
            message: "the run was begun five times, and each time its process died; it was given up".into(),
        });
        let ending = Ending {
            status,
            reason: (!failed).then_some(EndReason::Removed),
            error,
            usage: run.usage,
            last_step: None,
            prompt: None,
            marks: Marks::new(),
        };
        let ended = match self.pipeline.store.finish(run, lease, &ending, self.pipeline.now()).await {
            Ok(ended) => ended,
            Err(Error::LeaseLost) => return Ok(()),
            Err(error) => return Err(error),
        };
        let run = self.pipeline.store.run(&ended).await?;
        let what = |run| if failed { Happening::RunFailed { run } } else { Happening::RunCanceled { run, by: None } };
        self.pipeline.announce_run(&ended, run, what).await;
        self.pipeline.close_calls_now(&ended).await;
        Ok(())
    }
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").finish_non_exhaustive()
    }
}
