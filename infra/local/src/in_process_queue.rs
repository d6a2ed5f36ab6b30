//! An in-process queue that behaves like SQS: at least once, retries with back-off, dead letters,
//! and groups that take turns, so that a busy space does not delay others. Its jobs are lost with
//! the process. Their work is due in the table, and the next start finds it.

use std::{
    collections::{HashMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures::FutureExt;
use smartspace_domain::{Error, Result, jobs::Job};
use smartspace_ports::{
    queues::{Queue, QueueError},
    trace::{self, TraceParent},
};
use tokio::sync::{Notify, Semaphore};
use tracing::Instrument;

/// How often a job is delivered before it becomes a dead letter.
const DELIVERIES: u32 = 6;
/// The delay before the first retry. Each further delay is twice as long.
const FIRST_RETRY: Duration = Duration::from_millis(200);
/// The greatest number of dead letters.
const DEAD_LETTERS: usize = 1_000;

pub(crate) struct InProcessQueue<J> {
    name: &'static str,
    state: Mutex<State<J>>,
    arrived: Notify,
}

struct State<J> {
    waiting: HashMap<String, VecDeque<Delivery<J>>>,
    /// The groups that have jobs, each once, in the order of their turns.
    turns: VecDeque<String>,
    dead: VecDeque<J>,
}

struct Delivery<J> {
    job: J,
    count: u32,
    /// The trace in which it was queued.
    trace: Option<TraceParent>,
}

impl<J: Job> InProcessQueue<J> {
    pub(crate) fn new(name: &'static str) -> Arc<Self> {
        let state =
            State { waiting: HashMap::new(), turns: VecDeque::new(), dead: VecDeque::new() };
        Arc::new(Self { name, state: Mutex::new(state), arrived: Notify::new() })
    }

    /// Passes jobs to `handle` forever, at most `at_once` at a time.
    pub(crate) async fn deliver<F, Fut>(self: Arc<Self>, at_once: usize, handle: F)
    where
        F: Fn(J) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send,
    {
        let handle = Arc::new(handle);
        let permits = Arc::new(Semaphore::new(at_once));
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let delivery = self.next().await;
            let queue = Arc::clone(&self);
            let handle = Arc::clone(&handle);
            tokio::spawn(async move {
                // A panic fails this job only.
                let handled = handle(delivery.job.clone());
                let handled = async {
                    match delivery.trace.clone() {
                        Some(trace) => {
                            let span = tracing::info_span!("job", trace_id = trace.trace_id());
                            trace::within(trace, handled).instrument(span).await
                        }
                        None => handled.await,
                    }
                };
                let done = AssertUnwindSafe(handled).catch_unwind().await;
                drop(permit);
                let error = match done {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => error,
                    Err(_) => Error::Internal("the handler panicked".into()),
                };
                queue.failed(delivery, &error).await;
            });
        }
    }

    async fn next(&self) -> Delivery<J> {
        loop {
            let arrived = self.arrived.notified();
            if let Some(delivery) = self.lock().take() {
                return delivery;
            }
            arrived.await;
        }
    }

    async fn failed(&self, delivery: Delivery<J>, error: &Error) {
        let count = delivery.count + 1;
        if count >= DELIVERIES {
            tracing::error!(
                event = "dead_letter",
                queue = self.name,
                %error,
                "a job failed too often and is a dead letter"
            );
            let mut state = self.lock();
            state.dead.push_back(delivery.job);
            if state.dead.len() > DEAD_LETTERS {
                state.dead.pop_front();
            }
            return;
        }
        tracing::warn!(queue = self.name, count, %error, "a job failed and is retried");
        tokio::time::sleep(FIRST_RETRY * 2_u32.pow(count - 1)).await;
        self.put(Delivery { count, ..delivery });
    }

    fn put(&self, delivery: Delivery<J>) {
        self.lock().put(delivery);
        self.arrived.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Job> State<J> {
    fn put(&mut self, delivery: Delivery<J>) {
        let group = delivery.job.group();
        let jobs = self.waiting.entry(group.clone()).or_default();
        if jobs.is_empty() {
            self.turns.push_back(group);
        }
        jobs.push_back(delivery);
    }

    /// The next job of the group whose turn it is; a group that has more goes to the end.
    fn take(&mut self) -> Option<Delivery<J>> {
        let group = self.turns.pop_front()?;
        let jobs = self.waiting.get_mut(&group)?;
        let delivery = jobs.pop_front();
        if jobs.is_empty() {
            self.waiting.remove(&group);
        } else {
            self.turns.push_back(group);
        }
        delivery
    }
}

#[async_trait]
impl<J: Job> Queue<J> for InProcessQueue<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        tracing::trace!(queue = self.name, jobs = jobs.len(), "jobs are queued");
        let trace = trace::current();
        // To start a job costs nothing here, and apart they use all cores.
        for job in jobs.into_iter().flat_map(J::apart) {
            self.put(Delivery { job, count: 0, trace: trace.clone() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Time,
        ids::{EntityId, SpaceId},
        jobs::TriggerJob,
    };
    use tokio::sync::mpsc;

    use super::*;

    fn job(space: u128, seq: u64) -> TriggerJob {
        TriggerJob::Dispatch { space_id: SpaceId::new(Time::from_millis(1), space), seq }
    }

    #[tokio::test(start_paused = true)]
    async fn groups_take_turns() {
        let queue = InProcessQueue::new("test");
        queue.send(vec![job(1, 1), job(1, 2), job(1, 3), job(2, 1), job(2, 2)]).await.unwrap();
        let (done, mut order) = mpsc::unbounded_channel();
        tokio::spawn(Arc::clone(&queue).deliver(1, move |job| {
            done.send(job).unwrap();
            async { Ok(()) }
        }));
        for expected in [job(1, 1), job(2, 1), job(1, 2), job(2, 2), job(1, 3)] {
            assert_eq!(order.recv().await, Some(expected));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_job_is_retried_and_becomes_a_dead_letter() {
        let queue = InProcessQueue::new("test");
        let (begun, mut deliveries) = mpsc::unbounded_channel();
        tokio::spawn(Arc::clone(&queue).deliver(4, move |job: TriggerJob| {
            begun.send(job.clone()).unwrap();
            async move {
                match job {
                    TriggerJob::SettleEntity { .. } => panic!("on purpose"),
                    _ => Err(Error::Retry("not now".into())),
                }
            }
        }));
        let panics = TriggerJob::SettleEntity { entity_id: EntityId::new(Time::from_millis(1), 1) };
        for job in [job(1, 1), panics] {
            queue.send(vec![job.clone()]).await.unwrap();
            for _ in 0..DELIVERIES {
                assert_eq!(deliveries.recv().await, Some(job.clone()));
            }
            tokio::time::sleep(Duration::from_mins(5)).await;
            assert!(deliveries.is_empty());
            assert_eq!(queue.lock().dead.pop_back(), Some(job));
        }
    }
}
