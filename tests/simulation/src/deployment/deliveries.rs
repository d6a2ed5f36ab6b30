//! Gives the jobs of queues to processes.

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Error, Result,
    jobs::{Job, RunJob},
};
use smartspace_ports::queues::LocalJob;
use tokio::time::{Instant, timeout_at};

use crate::{
    deployment::Deployment, env::Env, ledger::Invocation, locked, ports::queue::SimJob,
    process::Process, queue::SimQueue,
};

impl Deployment {
    /// Starts the delivery of all jobs.
    pub(super) fn deliver_all(self: Arc<Self>) {
        let env = Arc::clone(&self.env);
        let runs = Arc::clone(&env.runs);
        let broadcasts = Arc::clone(&env.broadcasts);
        let triggers = Arc::clone(&env.triggers);
        tokio::spawn(Arc::clone(&self).deliver(runs, move |process, job, delivery| {
            let env = Arc::clone(&env);
            async move {
                let noted = note_delivery(&env, &process, &job);
                let done = handle_run(process, job, delivery, &env).await;
                note_end(&env, &noted);
                done
            }
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

/// Records which runs a process gets with a job. Returns them, each with its position among the
/// invocations of the run.
fn note_delivery(env: &Env, process: &Process, job: &RunJob) -> Vec<(String, usize)> {
    let mut ledger = locked(&env.ledger);
    let mut noted = Vec::new();
    for job in job.clone().apart() {
        let RunJob::Run { run, .. } = job else { continue };
        let begun = Instant::now();
        ledger.delivered.entry(run.run_id).or_insert(begun);
        let invocations = ledger.invocations.entry(run.run_id.to_string()).or_default();
        noted.push((run.run_id.to_string(), invocations.len()));
        let process = process.life.name.clone();
        invocations.push(Invocation { process, begun, ended: None });
    }
    noted
}

/// Records that a process has handled a job.
fn note_end(env: &Env, noted: &[(String, usize)]) {
    let mut ledger = locked(&env.ledger);
    for (run, position) in noted {
        // The oracle has taken the records if the simulation has ended.
        let invocations = ledger.invocations.get_mut(run);
        if let Some(invocation) = invocations.and_then(|it| it.get_mut(*position)) {
            invocation.ended = Some(Instant::now());
        }
    }
}

/// Handles a job of the runs queue.
async fn handle_run(
    process: Arc<Process>,
    job: RunJob,
    delivery: SimJob<RunJob>,
    env: &Env,
) -> Result<()> {
    process.life.until_running().await;
    if env.parameters.local {
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
