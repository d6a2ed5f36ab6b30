//! Alarms that are lost, late, early or doubled. They wait in the triggers queue, so on a local
//! host they are lost with its process.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use smartspace_domain::{Time, jobs::TriggerJob};
use smartspace_ports::{
    alarms::Alarms,
    envelope::{open, seal},
};
use tokio::time::Instant;

use crate::{env::Env, ports::sqs, process_life::ProcessLife};

/// The alarms port of one process.
pub struct SimAlarms {
    pub(crate) env: Arc<Env>,
    pub(crate) life: Arc<ProcessLife>,
}

#[async_trait]
impl Alarms for SimAlarms {
    async fn set(&self, at: Time, job: TriggerJob) {
        let env = &self.env;
        let chance = &env.chance;
        let place = format!("{}/alarm", self.life.name);
        env.before_call(&self.life, "alarm").await;
        let wait = at.since(env.wall());
        let fault = chance
            .strikes(&place, env.parameters.fault_rates.alarm)
            .then(|| chance.below(&place, 5));
        let waits: &[Duration] = match fault {
            Some(0) => &[],
            Some(1) => {
                &[wait + chance.time(&place, Duration::from_secs(1), Duration::from_mins(3))]
            }
            Some(2) => {
                &[wait + chance.time(&place, Duration::from_mins(3), Duration::from_hours(4))]
            }
            Some(3) => &[wait, wait + chance.time(&place, Duration::ZERO, Duration::from_mins(2))],
            Some(_) => &[chance.time(&place, Duration::ZERO, wait)],
            None => &[wait],
        };
        if fault.is_some() {
            env.history.note(&self.life.name, || {
                format!("an alarm for {at} rings after {waits:?} instead of {wait:?}")
            });
        }
        // A job is sent as text, as SQS and the scheduler require.
        let text = seal(&job).unwrap_or_default();
        if let Some(refusal) = sqs::refusal(&text) {
            env.report(10, format!("an alarm is refused: {refusal}"));
        }
        match open::<TriggerJob>(&text) {
            Ok(job) => {
                for wait in waits {
                    env.triggers.put(job.clone(), Instant::now() + *wait);
                }
            }
            Err(_) => env.report(0, format!("the job of an alarm can't be parsed: {text}")),
        }
        env.after_call(&self.life, "alarm").await;
    }
}
