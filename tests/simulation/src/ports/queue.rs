//! The queue port of one process, and the deliveries of jobs.
//!
//! A job may be lost or late, and its sender may get an error although the job was taken. Jobs
//! travel in batches, as the product makes them, and what SQS refuses is refused and reported.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use smartspace_domain::jobs::Job;
use smartspace_ports::{
    envelope::{open, seal},
    queues::{Queue, QueueError, ReceivedJob, batches},
};
use tokio::time::Instant;

use crate::{env::Env, mutants::Mutant, ports::sqs, process_life::ProcessLife, queue::SimQueue};

/// The queue port of one process.
pub struct ProcessQueue<J> {
    pub(crate) env: Arc<Env>,
    pub(crate) life: Arc<ProcessLife>,
    pub(crate) queue: Arc<SimQueue<J>>,
}

#[async_trait]
impl<J: Job> Queue<J> for ProcessQueue<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        let env = &self.env;
        let fault_rates = &env.parameters.fault_rates;
        let name = self.queue.name();
        let place = format!("{}/send {name}", self.life.name);
        env.before_call(&self.life, name).await;
        let mut refused = false;
        let mut bodies = Vec::with_capacity(jobs.len());
        let jobs =
            if env.parameters.local { jobs.into_iter().flat_map(J::apart).collect() } else { jobs };
        for job in jobs {
            let fault = env.chance.strikes(&place, fault_rates.queue);
            refused |= fault;
            if fault && env.chance.happens(&place, 500) {
                env.history.note(&self.life.name, || format!("queue {name}: a job is not taken"));
                continue;
            }
            let body = self.seal(&job);
            match env.mutant {
                Some(mutant) if mutant.loses(&env.storage, &body) => {}
                Some(mutant) => bodies.push(mutant.cut_job(body)),
                None => bodies.push(body),
            }
        }
        for batch in batches(bodies, String::len) {
            let refusal = sqs::refusal_of_batch(&batch);
            if let Some(refusal) = refusal.or_else(|| batch.iter().find_map(|it| sqs::refusal(it)))
            {
                env.report(10, format!("the queue {name} refuses a job: {refusal}"));
                refused = true;
                continue;
            }
            for body in batch {
                self.accept(&place, &body);
            }
        }
        env.after_call(&self.life, name).await;
        if refused { Err(QueueError("the queue did not answer".into())) } else { Ok(()) }
    }
}

impl<J: Job> ProcessQueue<J> {
    /// A job as text, which SQS requires.
    fn seal(&self, job: &J) -> String {
        let body = if self.env.mutant == Some(Mutant::SendsRawCharacters) {
            serde_json::to_string(job)
        } else {
            seal(job)
        };
        body.unwrap_or_default()
    }

    /// Queues a job, now or later.
    fn accept(&self, place: &str, body: &str) {
        let env = &self.env;
        let name = self.queue.name();
        let Ok(job) = open::<J>(body) else {
            env.report(0, format!("a job of the queue {name} can't be parsed: {body}"));
            return;
        };
        let late =
            env.chance.strikes(&format!("{place} late"), env.parameters.fault_rates.late_job);
        let delay = if late {
            env.chance.time(place, Duration::from_secs(1), Duration::from_secs(90))
        } else {
            Duration::ZERO
        };
        self.queue.put(job, Instant::now() + delay);
    }
}

/// A job that a process has received.
pub struct SimJob<J> {
    pub(crate) queue: Arc<SimQueue<J>>,
    pub(crate) life: Arc<ProcessLife>,
    pub(crate) id: u64,
    pub(crate) ends_at: Instant,
    pub(crate) is_repeated: bool,
}

#[async_trait]
impl<J: Job> ReceivedJob for SimJob<J> {
    async fn hide(&self, time: Duration) {
        self.life.until_running().await;
        self.queue.show_at(self.id, Instant::now() + time.min(self.queue.hidden()));
    }

    fn ends_at(&self) -> Option<Instant> {
        Some(self.ends_at)
    }

    fn is_repeated(&self) -> bool {
        self.is_repeated
    }
}
