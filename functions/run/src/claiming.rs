//! The entry of the crate: takes a job, claims its runs and gets each to a worker.
//!
//! - [`claim`]: claims one run, loads the sources of its prompt meanwhile, and acts on the outcome
//! - [`shared_jobs`]: claims several runs of one job
//! - [`forks`]: loads what a fork of a run continues
//! - [`assemble`]: assembles the worker of a claimed run
//! - [`remote_handover`]: hands a claimed run to a remote agent
//! - [`early_end`]: ends a run that no worker works on
//! - [`deps`]: the dependencies that all of these share

mod assemble;
mod claim;
mod deps;
mod early_end;
mod forks;
mod remote_handover;
mod shared_jobs;

use std::sync::Arc;

use futures::future::BoxFuture;
use smartspace_domain::{Error, Result, jobs::RunJob, prices::Prices};
use smartspace_egress::{Egress, mcp::McpServers};
use smartspace_models::port::Model;
use smartspace_pipeline::Pipeline;
use smartspace_ports::{queues::ReceivedJob, sockets::Sockets};
use tokio::sync::watch;

use crate::{
    claiming::deps::RunDeps, prompt::reading::SourceCache, remote::Callbacks, summaries::Summarizer,
};

/// Handles the jobs of the runs queue.
pub struct RunJobHandler {
    deps: RunDeps,
}

impl RunJobHandler {
    /// When `stopping` turns true, its workers give their leases back.
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
        let seen = SourceCache::default();
        let deps =
            RunDeps { pipeline, sockets, models, egress, mcp, prices, callbacks, stopping, seen };
        Self { deps }
    }

    /// Claims the runs of a job and works on them to their end, or writes a summary. A job may be
    /// delivered repeatedly, and to several processes at once.
    ///
    /// # Errors
    /// [`Error::Retry`] if the job should be delivered again.
    ///
    /// Boxed here, so that the crates that call it need not compile it once more.
    pub fn handle<'a>(
        &'a self,
        job: &'a RunJob,
        delivery: &'a dyn ReceivedJob,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.handle_job(job, delivery))
    }

    async fn handle_job(&self, job: &RunJob, delivery: &dyn ReceivedJob) -> Result<()> {
        let deps = &self.deps;
        if *deps.stopping.borrow() {
            return Err(Error::Retry(
                "the process is stopping; another one continues the run".into(),
            ));
        }
        match job {
            RunJob::Run { run, also } if also.is_empty() => {
                Box::pin(claim::handle(deps, *run, delivery)).await
            }
            RunJob::Run { run, also } => {
                let runs = [run].into_iter().chain(also).copied().collect();
                Box::pin(shared_jobs::handle(deps, runs, delivery)).await;
                Ok(())
            }
            &RunJob::Summarize { space_id, agent_id, to } => {
                let summarizer = Summarizer {
                    pipeline: &deps.pipeline,
                    models: &*deps.models,
                    prices: &deps.prices,
                };
                Box::pin(summarizer.handle(space_id, agent_id, to, delivery)).await
            }
        }
    }
}

impl std::fmt::Debug for RunJobHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunJobHandler").finish_non_exhaustive()
    }
}
