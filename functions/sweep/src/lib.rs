//! Comes back to whatever is overdue: on AWS every minute, locally every second. Queues and alarms only make things faster; what they lost
//! is found here.

use futures::future::join_all;
use smartspace_domain::{
    Error, Result,
    jobs::{RunJob, TriggerJob},
};
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    due::{Duty, Swept},
    keys::DUE_PARTS,
};

/// How many items of each part of the index one sweep acts on.
const AT_ONCE: usize = 50;

/// What this function needs.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The table and the queues.
    pub pipeline: Pipeline,
}

/// What is to be queued.
#[derive(Debug, Default)]
struct Found {
    runs: Vec<RunJob>,
    triggers: Vec<TriggerJob>,
}

impl Sweep {
    /// Sweeps once. How many overdue items it found. What goes wrong with one item, or with one part of the index, holds up no other: their times were
    /// moved on, so whoever is not queued now waits for long.
    ///
    /// # Errors
    /// That of a part which could not be read, when all the others are done.
    pub async fn handle(&self) -> Result<usize> {
        let parts = join_all((0..DUE_PARTS).map(|part| self.sweep_part(part))).await;
        parts.into_iter().sum()
    }

    /// For a host that starts, where no worker of before can live: everything that is due at any time is queued at once.
    pub async fn restart(&self) -> Result<usize> {
        let mut found = Found::default();
        for duty in self.pipeline.store.restart().await? {
            found.add(duty);
        }
        Ok(self.queue(found).await)
    }

    async fn sweep_part(&self, part: u8) -> Result<usize> {
        let (store, now) = (&self.pipeline.store, self.pipeline.now());
        let mut found = Found::default();
        for key in store.due_in(part, now, AT_ONCE).await? {
            match store.sweep_one(&key, now).await {
                Ok(Swept::Overdue(duty)) => found.add(duty),
                Ok(Swept::NotDue) => {}
                // An alarm counts these lines.
                Ok(Swept::GivenUp) => {
                    tracing::error!(event = "given_up", pk = key.pk, sk = key.sk, "an item was acted on ten times and is still due");
                }
                Err(error @ Error::Retry(_)) => {
                    tracing::warn!(pk = key.pk, sk = key.sk, %error, "an overdue item is left to a later sweep");
                }
                Err(error) => {
                    tracing::error!(event = "not_swept", pk = key.pk, sk = key.sk, %error, "an overdue item can't be swept");
                }
            }
        }
        Ok(self.queue(found).await)
    }

    /// How many there are.
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
