//! In-process alarms: timers for the next 15 minutes. The work of later alarms, and of timers that
//! are lost with the process, is due in the table. A sweep every second finds it there.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::{Time, jobs::TriggerJob};
use smartspace_ports::{alarms::Alarms, clock::Clock, queues::Queue};
use tokio::sync::Semaphore;

/// Later alarms get no timer.
const SOON: Duration = Duration::from_mins(15);
/// The greatest number of timers.
const TIMERS: usize = 10_000;

pub(crate) struct InProcessAlarms {
    triggers: Arc<dyn Queue<TriggerJob>>,
    clock: Arc<dyn Clock>,
    permits: Arc<Semaphore>,
    /// The timers that are running, so that the same alarm gets only one.
    set: Arc<Mutex<HashSet<(Time, TriggerJob)>>>,
}

impl InProcessAlarms {
    pub(crate) fn new(triggers: Arc<dyn Queue<TriggerJob>>, clock: Arc<dyn Clock>) -> Self {
        Self { triggers, clock, permits: Arc::new(Semaphore::new(TIMERS)), set: Arc::default() }
    }
}

#[async_trait]
impl Alarms for InProcessAlarms {
    async fn set(&self, at: Time, job: TriggerJob) {
        let wait = at.since(self.clock.now());
        if wait > SOON {
            return;
        }
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else { return };
        if !self.set.lock().unwrap_or_else(PoisonError::into_inner).insert((at, job.clone())) {
            return;
        }
        let triggers = Arc::clone(&self.triggers);
        let set = Arc::clone(&self.set);
        tokio::spawn(async move {
            let _permit = permit;
            tokio::time::sleep(wait).await;
            set.lock().unwrap_or_else(PoisonError::into_inner).remove(&(at, job.clone()));
            if let Err(error) = triggers.send(vec![job]).await {
                tracing::warn!(
                    %error,
                    "an alarm was lost; sweep finds its work when it is overdue"
                );
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::ids::RunId;
    use tokio::sync::mpsc;

    use super::*;
    use crate::in_process_queue::InProcessQueue;

    /// A clock that follows tokio's paused time.
    struct Paused(tokio::time::Instant);

    impl Clock for Paused {
        fn now(&self) -> Time {
            Time::from_millis(1_000_000) + self.0.elapsed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_within_15_minutes_gets_one_timer_and_a_later_one_gets_none() {
        let queue = InProcessQueue::new("test");
        let clock = Arc::new(Paused(tokio::time::Instant::now()));
        let alarms = InProcessAlarms::new(queue.clone(), clock.clone());
        let job = |number| TriggerJob::WakeRun { run_id: RunId::new(Time::from_millis(1), number) };
        let start = clock.now();
        alarms.set(start + Duration::from_mins(16), job(3)).await;
        for _ in 0..3 {
            alarms.set(start + Duration::from_mins(10), job(2)).await;
        }
        alarms.set(start + Duration::from_secs(2), job(1)).await;
        alarms.set(Time::from_millis(0), job(0)).await;
        let (came, mut order) = mpsc::unbounded_channel();
        tokio::spawn(queue.deliver(4, move |job| {
            came.send((job, clock.now().since(start))).unwrap();
            async { Ok(()) }
        }));
        for (number, after) in [(0, 0), (1, 2), (2, 600)] {
            let (came, at) = order.recv().await.unwrap();
            assert_eq!((came, at.as_secs()), (job(number), after));
        }
        tokio::time::sleep(Duration::from_hours(1)).await;
        assert!(order.try_recv().is_err());
    }
}
