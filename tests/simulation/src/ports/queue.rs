//! The queue port of one process, and the deliveries of jobs.
//!
//! A job may be lost or late, and its sender may get an error although the job was taken.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use smartspace_domain::jobs::Job;
use smartspace_ports::queues::{Delivery, Queue, QueueError};
use tokio::time::Instant;

use crate::{environment::Environment, life::Life, queue::SimQueue};

/// The queue port of one process.
pub struct ProcessQueue<J> {
    pub(crate) env: Arc<Environment>,
    pub(crate) life: Arc<Life>,
    pub(crate) queue: Arc<SimQueue<J>>,
}

#[async_trait]
impl<J: Job> Queue<J> for ProcessQueue<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        let env = &self.env;
        let fault_rates = &env.plan.fault_rates;
        let name = self.queue.name();
        let place = format!("{}/send {name}", self.life.name);
        env.before_call(&self.life, name).await;
        let mut refused = false;
        for job in jobs {
            let fault = env.chance.strikes(&place, fault_rates.queue);
            refused |= fault;
            if fault && env.chance.happens(&place, 500) {
                env.history.note(&self.life.name, || format!("queue {name}: a job is not taken"));
                continue;
            }
            // A job is sent as text, as SQS requires.
            let text = serde_json::to_string(&job).unwrap_or_default();
            if env.mutant.is_some_and(|mutant| mutant.loses(&env.storage, &text)) {
                continue;
            }
            let Ok(job) = serde_json::from_str::<J>(&text) else {
                env.report(0, format!("a job of the queue {name} can't be parsed: {text}"));
                continue;
            };
            let late = env.chance.strikes(&format!("{place} late"), fault_rates.late_job);
            let delay = if late {
                env.chance.time(&place, Duration::from_secs(1), Duration::from_secs(90))
            } else {
                Duration::ZERO
            };
            self.queue.put(job, Instant::now() + delay);
        }
        env.after_call(&self.life, name).await;
        if refused { Err(QueueError("the queue did not answer".into())) } else { Ok(()) }
    }
}

/// One delivery of a job.
pub struct SimDelivery<J> {
    pub(crate) queue: Arc<SimQueue<J>>,
    pub(crate) life: Arc<Life>,
    pub(crate) id: u64,
    pub(crate) ends_at: Instant,
}

#[async_trait]
impl<J: Job> Delivery for SimDelivery<J> {
    async fn hold(&self, time: Duration) {
        self.life.until_running().await;
        self.queue.show_at(self.id, Instant::now() + time.min(self.queue.hidden()));
    }

    fn ends_at(&self) -> Option<Instant> {
        Some(self.ends_at)
    }
}
