//! Alarms that are lost, late, early or doubled. They wait in the triggers queue, so on a local
//! host they are lost with its process.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use smartspace_domain::{Time, jobs::TriggerJob};
use smartspace_ports::alarms::Alarms;
use tokio::time::Instant;

use crate::{life::Life, world::World};

/// The alarms port of one process.
pub struct SimAlarms {
    pub(crate) world: Arc<World>,
    pub(crate) life: Arc<Life>,
}

#[async_trait]
impl Alarms for SimAlarms {
    async fn set(&self, at: Time, job: TriggerJob) {
        let world = &self.world;
        let chance = &world.chance;
        let place = format!("{}/alarm", self.life.name);
        world.before_call(&self.life, "alarm").await;
        let wait = at.since(world.wall());
        let fault =
            chance.strikes(&place, world.plan.fault_rates.alarm).then(|| chance.below(&place, 5));
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
            world.history.note(&self.life.name, || {
                format!("an alarm for {at} rings after {waits:?} instead of {wait:?}")
            });
        }
        // A job is sent as text, as SQS requires.
        let text = serde_json::to_string(&job).unwrap_or_default();
        match serde_json::from_str::<TriggerJob>(&text) {
            Ok(job) => waits
                .iter()
                .for_each(|wait| world.triggers.put(job.clone(), Instant::now() + *wait)),
            Err(_) => world.report(0, format!("the job of an alarm can't be parsed: {text}")),
        }
        world.after_call(&self.life, "alarm").await;
    }
}
