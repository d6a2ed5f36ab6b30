//! Gives the jobs of queues to processes.

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Error, Result,
    jobs::{Job, RunJob},
};
use smartspace_ports::queues::LocalJob;
use tokio::time::{Instant, timeout_at};

use crate::{
    deployment::Deployment, env::Env, locked, ports::queue::SimJob, process::Process,
    queue::SimQueue,
};

impl Deployment {
    /// Starts the delivery of all jobs.
    pub(super) fn deliver_all(self: Arc<Self>) {
        let env = Arc::clone(&self.env);
        let runs = Arc::clone(&env.runs);
        let broadcasts = Arc::clone(&env.broadcasts);
        let triggers = Arc::clone(&env.triggers);
        tokio::spawn(Arc::clone(&self).deliver(runs, move |process, job, delivery| {
            for job in job.clone().apart() {
                if let RunJob::Run { run, .. } = job {
                    locked(&env.ledger).delivered.entry(run.run_id).or_insert_with(Instant::now);
                }
            }
            handle_run(process, job, delivery, env.parameters.local)
        }));
        tokio::spawn(Arc::clone(&self).deliver(broadcasts, |process, job, _| async move {
            process.broadcast.handle(&job).await
        }));
        tokio::spawn(self.deliver(triggers, |process, job, _| async move {
            process.triggers.handle(&job).await
        }));
    }

    /// Delivers the jobs of a queue forever, each to a random process.
    pub async fn deliver<J, F, Fut>(self: Arc<Self>, queue: Arc<SimQueue<J>>, handle: F)
    where
        J: Job,
        F: Fn(Arc<Process>, J, SimJob<J>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        loop {
            let (id, job, is_repeated) = queue.take(&self.env.chance, &self.env.history).await;
            let Some(process) = self.some_process(queue.name()) else {
                queue.show_at(id, Instant::now() + Duration::from_millis(200));
                continue;
            };
            let delivery = SimJob {
                queue: Arc::clone(&queue),
                life: Arc::clone(&process.life),
                id,
                ends_at: Instant::now() + self.env.parameters.invocation,
                is_repeated,
            };
            let queue = Arc::clone(&queue);
            let env = Arc::clone(&self.env);
            let work = handle(Arc::clone(&process), job, delivery);
            tokio::spawn(async move {
                let done = tokio::select! {
                    biased;
                    // The job is delivered again when it becomes visible.
                    () = process.life.ended() => return,
                    done = work => done,
                };
                finish(&env, &queue, id, done);
            });
        }
    }
}

/// Handles a job of the runs queue.
async fn handle_run(
    process: Arc<Process>,
    job: RunJob,
    delivery: SimJob<RunJob>,
    local: bool,
) -> Result<()> {
    process.life.until_running().await;
    if local {
        return process.runs.handle(&job, &LocalJob).await;
    }
    // Lambda ends an invocation in the middle of its work.
    let ended = || Err(Error::Retry("the invocation took too long".into()));
    timeout_at(delivery.ends_at, process.runs.handle(&job, &delivery))
        .await
        .unwrap_or_else(|_| ended())
}

/// Removes a job that was handled, or delivers it again: after a failure, and now and then after a
/// success.
fn finish<J: Job>(env: &Env, queue: &SimQueue<J>, id: u64, done: Result<()>) {
    let name = queue.name();
    let later = |to: u64| {
        Instant::now() + env.chance.time(name, Duration::from_millis(10), Duration::from_secs(to))
    };
    match done {
        Ok(())
            if env.chance.strikes(&format!("{name}/twice"), env.parameters.fault_rates.twice) =>
        {
            queue.show_at(id, later(40));
        }
        Ok(()) => queue.remove(id),
        Err(error) => {
            env.history.note(name, || format!("a job failed: {error}"));
            if matches!(error, Error::Internal(_)) {
                env.report(
                    0,
                    format!("a job of the queue {name} failed with an internal error: {error}"),
                );
            }
            queue.show_at(id, later(30));
        }
    }
}
