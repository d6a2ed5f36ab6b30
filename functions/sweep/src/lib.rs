//! Resumes whatever is overdue: on AWS every minute, locally every second.
//!
//! Queues and alarms only make things faster. Work that they lose is due in the table and is found
//! here.

use futures::future::join_all;
use smartspace_domain::{
    Error, Result,
    jobs::{RunJob, TriggerJob},
};
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    due::{Duty, Swept},
    table::keys::DUE_PARTS,
};

/// The greatest number of items that one sweep takes from each part of the index.
const AT_ONCE: usize = 50;

/// The dependencies of the function.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The table and the queues.
    pub pipeline: Pipeline,
}

#[derive(Debug, Default)]
struct Found {
    runs: Vec<RunJob>,
    triggers: Vec<TriggerJob>,
}

impl Sweep {
    /// Sweeps once and returns the number of overdue items. An error with one item or one part of
    /// the index does not stop the others. They must be queued now: their due times have been moved
    /// forward, so the next sweep would find them much later.
    ///
    /// # Errors
    /// Fails after all parts are done if a part could not be read.
    pub async fn handle(&self) -> Result<usize> {
        let parts = join_all((0..DUE_PARTS).map(|part| self.sweep_part(part))).await;
        parts.into_iter().sum()
    }

    /// Queues everything that is due, now or later. For a host that starts, where no worker of an
    /// earlier process can be alive.
    pub async fn restart(&self) -> Result<usize> {
        let mut found = Found::default();
        for duty in self.pipeline.store.due().restart().await? {
            found.add(duty);
        }
        Ok(self.queue(found).await)
    }

    async fn sweep_part(&self, part: u8) -> Result<usize> {
        let store = &self.pipeline.store;
        let now = self.pipeline.now();
        let mut found = Found::default();
        for key in store.due().candidates(part, now, AT_ONCE).await? {
            match store.due().sweep_one(&key, now).await {
                Ok(Swept::Overdue(duty)) => found.add(duty),
                Ok(Swept::NotDue) => {}
                // A CloudWatch alarm counts these lines.
                Ok(Swept::GivenUp) => {
                    tracing::error!(
                        event = "given_up",
                        pk = key.pk,
                        sk = key.sk,
                        "an item is still due after ten attempts; sweep gives it up"
                    );
                }
                Err(error @ Error::Retry(_)) => {
                    tracing::warn!(
                        pk = key.pk,
                        sk = key.sk,
                        %error,
                        "an overdue item is left to a later sweep"
                    );
                }
                Err(error) => {
                    tracing::error!(
                        event = "not_swept",
                        pk = key.pk,
                        sk = key.sk,
                        %error,
                        "an overdue item can't be resumed"
                    );
                }
            }
        }
        Ok(self.queue(found).await)
    }

    async fn queue(&self, found: Found) -> usize {
        let count = found.runs.len() + found.triggers.len();
        self.pipeline.queue_runs(found.runs).await;
        self.pipeline.queue_triggers(found.triggers).await;
        count
    }
}

impl Found {
    fn add(&mut self, duty: Duty) {
        match duty {
            Duty::Run(job) => self.runs.push(job),
            Duty::Trigger(job) => self.triggers.push(job),
        }
    }
}
