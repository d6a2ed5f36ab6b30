//! The processes of a deployment and the sweep.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::sleep;

use crate::{deployment::Deployment, locked, process::Process};

/// How often `sweep` runs on AWS.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// How often it runs on a local host. The real one sweeps each second, which would only add steps.
const LOCAL_SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// How often clients ping, as docs/reference/live.md asks them to.
const PING_INTERVAL: Duration = Duration::from_mins(4);

impl Deployment {
    pub fn some_process(&self, place: &str) -> Option<Arc<Process>> {
        let mut processes = locked(&self.processes);
        processes.retain(|process| !process.life.has_ended());
        if processes.is_empty() {
            return None;
        }
        Some(Arc::clone(&processes[self.env.chance.below(place, processes.len() as u64) as usize]))
    }

    /// Starts the processes, the queues and the sweep.
    pub async fn start(self: &Arc<Self>) {
        for _ in 0..self.env.parameters.processes {
            tokio::spawn(run_one(Arc::clone(self)));
        }
        Arc::clone(self).deliver_all();
        tokio::spawn(sweep(Arc::clone(self)));
        // Tests that count calls have no idle connections.
        if !self.env.parameters.local && self.env.fixed_latency.is_none() {
            tokio::spawn(ping(Arc::clone(self)));
        }
        while self.some_process("start").is_none() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends the deployment.
    pub fn end(&self) {
        let processes = std::mem::take(&mut *locked(&self.processes));
        for process in processes {
            process.life.end();
        }
        self.env.connections.close_all();
    }

    /// Adds a process to the deployment.
    pub fn add_process(&self, process: Arc<Process>) {
        locked(&self.processes).push(process);
    }

    fn next_name(&self) -> String {
        format!("p{}", self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Runs one process after the other: each death is followed by a restart.
async fn run_one(deployment: Arc<Deployment>) {
    loop {
        let process = Process::start(&deployment.env, deployment.next_name());
        let life = Arc::clone(&process.life);
        if deployment.env.parameters.local {
            let restarted = tokio::select! {
                biased;
                () = life.ended() => continue,
                restarted = process.sweep.restart() => restarted,
            };
            if let Err(error) = restarted {
                // The host ends with an error and is started again. Without a pause, virtual time
                // would stand still if the host can never start.
                deployment.env.history.note(&life.name, || format!("could not start: {error}"));
                life.end();
                sleep(deployment.env.chance.time(
                    "restart",
                    Duration::from_millis(100),
                    Duration::from_secs(5),
                ))
                .await;
                continue;
            }
        }
        deployment.env.history.note(&life.name, || "lives".into());
        deployment.add_process(process);
        life.ended().await;
        sleep(deployment.env.chance.time(
            "restart",
            Duration::from_millis(100),
            Duration::from_secs(5),
        ))
        .await;
    }
}

/// Pings over every connection, so that none is idle for too long.
async fn ping(deployment: Arc<Deployment>) {
    loop {
        sleep(PING_INTERVAL).await;
        for (connection, _) in deployment.env.connections.all() {
            // A ping that is lost is not sent again.
            let _ = deployment.receive(&connection, r#"{"action":"ping"}"#).await;
        }
    }
}

async fn sweep(deployment: Arc<Deployment>) {
    loop {
        sleep(if deployment.env.parameters.local { LOCAL_SWEEP_INTERVAL } else { SWEEP_INTERVAL })
            .await;
        let Some(process) = deployment.some_process("sweep") else { continue };
        let swept = tokio::select! {
            biased;
            () = process.life.ended() => continue,
            swept = process.sweep.handle() => swept,
        };
        match swept {
            Ok(0) => {}
            Ok(found) => deployment.env.history.note("sweep", || format!("goes on with {found}")),
            Err(error) => deployment.env.history.note("sweep", || format!("failed: {error}")),
        }
    }
}
