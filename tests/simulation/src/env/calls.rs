//! The calls of processes: each has a latency, and a fault may strike before or after its effect.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::{env::Env, locked, process_life::ProcessLife};

impl Env {
    /// Runs before a call of a process takes effect: latency, clock jumps, stalls and deaths.
    pub async fn before_call(&self, life: &Arc<ProcessLife>, what: &str) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let fault_rates = &self.parameters.fault_rates;
        let place = format!("{}/{what}", life.name);
        if self.fixed_latency.is_some() {
            locked(&self.ledger).calls.push((Instant::now(), what.to_owned()));
        }
        life.until_running().await;
        sleep(self.latency(&place)).await;
        if self.chance.strikes(&format!("{place}/clock"), fault_rates.clock) {
            let jump = self
                .chance
                .time("clock", Duration::from_secs(1), Duration::from_secs(70))
                .as_millis() as i64;
            let jump = if self.chance.happens("clock/back", 400) { -jump } else { jump };
            self.jumped.fetch_add(jump, Ordering::Relaxed);
            self.history.note("clock", || format!("jumps by {jump} ms"));
        }
        if self.chance.strikes(&format!("{place}/stalled"), fault_rates.stalled) {
            let time = self.chance.time("stalled", Duration::from_secs(2), Duration::from_secs(90));
            self.history.note(&life.name, || format!("stands still for {time:?}, before {what}"));
            life.stall(time);
        }
        life.until_running().await;
        if self.chance.strikes(&format!("{place}/killed before"), fault_rates.killed_before) {
            self.kill(life, &format!("before {what}"));
            life.until_running().await;
        }
    }

    /// Runs after a call took effect and before its process gets the answer.
    pub async fn after_call(&self, life: &Arc<ProcessLife>, what: &str) {
        if self.chance.strikes(
            &format!("{}/{what}/killed after", life.name),
            self.parameters.fault_rates.killed_after,
        ) {
            self.kill(life, &format!("after {what}"));
        }
        life.until_running().await;
    }

    fn latency(&self, place: &str) -> Duration {
        if let Some(fixed) = self.fixed_latency {
            return fixed;
        }
        if self.chance.strikes(&format!("{place}/slow"), self.parameters.fault_rates.slow) {
            return self.chance.time("slow", Duration::from_millis(200), Duration::from_secs(15));
        }
        Duration::from_millis(self.chance.below(place, 8))
    }

    /// Kills a process in the middle of its work. The queues and connections of a local host die
    /// with it.
    pub fn kill(&self, life: &ProcessLife, when: &str) {
        if !life.end() {
            return;
        }
        self.history.note(&life.name, || format!("is killed {when}"));
        if self.parameters.local {
            self.runs.clear();
            self.broadcasts.clear();
            self.triggers.clear();
            self.connections.close_all();
        }
    }
}
