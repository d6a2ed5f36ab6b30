//! Queues that deliver at least once: late, twice, in any order, and again after a failure.
//!
//! A job waits in [`SimQueue`], which all processes share. [`ProcessQueue`] is the port of one
//! process, and [`SimDelivery`] one delivery of a job.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::{Error, Result, jobs::Job};
use smartspace_ports::queues::{Delivery, Queue, QueueError};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{life::Life, locked, process::Process, world::World};

/// How often a job is delivered before it counts as dead.
const DELIVERIES: u32 = 5;

/// A queue.
pub struct SimQueue<J> {
    name: &'static str,
    state: Mutex<State<J>>,
    came: Notify,
    /// How long a delivered job is hidden.
    hidden: Duration,
}

struct State<J> {
    jobs: Vec<Waiting<J>>,
    next: u64,
}

struct Waiting<J> {
    id: u64,
    job: J,
    visible_at: Instant,
    delivered: u32,
}

impl<J: Job> SimQueue<J> {
    /// An empty queue.
    pub fn new(name: &'static str, hidden: Duration) -> Arc<Self> {
        Arc::new(Self {
            name,
            state: Mutex::new(State { jobs: Vec::new(), next: 0 }),
            came: Notify::new(),
            hidden,
        })
    }

    /// Drops all jobs, as when the process of a local host dies.
    pub fn clear(&self) {
        locked(&self.state).jobs.clear();
    }

    /// Whether no job becomes visible within this time.
    pub fn is_quiet(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        locked(&self.state).jobs.iter().all(|waiting| waiting.visible_at > until)
    }

    pub(crate) fn put(&self, job: J, visible_at: Instant) {
        let mut state = locked(&self.state);
        state.next += 1;
        let id = state.next;
        state.jobs.push(Waiting { id, job, visible_at, delivered: 0 });
        drop(state);
        self.came.notify_one();
    }

    fn done(&self, id: u64) {
        locked(&self.state).jobs.retain(|waiting| waiting.id != id);
    }

    fn again(&self, id: u64, visible_at: Instant) {
        if let Some(waiting) = locked(&self.state).jobs.iter_mut().find(|waiting| waiting.id == id)
        {
            waiting.visible_at = visible_at;
        }
        self.came.notify_one();
    }

    /// Takes one of the visible jobs at random.
    async fn next(&self, world: &World) -> (u64, J) {
        loop {
            let came = self.came.notified();
            let now = Instant::now();
            let earliest = {
                let mut state = locked(&self.state);
                let visible: Vec<usize> =
                    (0..state.jobs.len()).filter(|&at| state.jobs[at].visible_at <= now).collect();
                if visible.is_empty() {
                    state.jobs.iter().map(|waiting| waiting.visible_at).min()
                } else {
                    let chosen = visible
                        [world.chance.below(self.name, visible.len().min(6) as u64) as usize];
                    let waiting = &mut state.jobs[chosen];
                    if waiting.delivered >= DELIVERIES {
                        world.history.note(self.name, || "a job lies dead".into());
                        state.jobs.remove(chosen);
                        continue;
                    }
                    waiting.delivered += 1;
                    waiting.visible_at = now + self.hidden;
                    return (waiting.id, waiting.job.clone());
                }
            };
            match earliest {
                Some(earliest) => {
                    tokio::select! { biased; () = came => {}, () = sleep_until(earliest) => {} }
                }
                None => came.await,
            }
        }
    }

    /// Delivers jobs forever, each to a random process.
    pub async fn deliver<F, Fut>(self: Arc<Self>, world: Arc<World>, handle: F)
    where
        F: Fn(Arc<Process>, J, SimDelivery<J>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        loop {
            let (id, job) = self.next(&world).await;
            let Some(process) = world.some_process(self.name) else {
                self.again(id, Instant::now() + Duration::from_millis(200));
                continue;
            };
            let delivery = SimDelivery {
                queue: Arc::clone(&self),
                life: Arc::clone(&process.life),
                id,
                ends_at: Instant::now() + world.plan.invocation,
            };
            let queue = Arc::clone(&self);
            let world = Arc::clone(&world);
            let work = handle(Arc::clone(&process), job, delivery);
            tokio::spawn(async move {
                let done = tokio::select! {
                    biased;
                    // The job is delivered again when it becomes visible.
                    () = process.life.ended() => return,
                    done = work => done,
                };
                queue.finished(&world, id, done);
            });
        }
    }

    fn finished(&self, world: &World, id: u64, done: Result<()>) {
        let later = |to: u64| {
            Instant::now()
                + world.chance.time(self.name, Duration::from_millis(10), Duration::from_secs(to))
        };
        match done {
            Ok(())
                if world
                    .chance
                    .strikes(&format!("{}/twice", self.name), world.plan.fault_rates.twice) =>
            {
                self.again(id, later(40));
            }
            Ok(()) => self.done(id),
            Err(error) => {
                world.history.note(self.name, || format!("a job failed: {error}"));
                if matches!(error, Error::Internal(_)) {
                    world.report(
                        0,
                        format!(
                            "a job of the queue {} failed with an internal error: {error}",
                            self.name
                        ),
                    );
                }
                self.again(id, later(30));
            }
        }
    }
}

/// The queue port of one process.
pub struct ProcessQueue<J> {
    pub(crate) world: Arc<World>,
    pub(crate) life: Arc<Life>,
    pub(crate) queue: Arc<SimQueue<J>>,
}

#[async_trait]
impl<J: Job> Queue<J> for ProcessQueue<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        let world = &self.world;
        let fault_rates = &world.plan.fault_rates;
        let name = self.queue.name;
        let place = format!("{}/send {name}", self.life.name);
        world.before_call(&self.life, name).await;
        let mut refused = false;
        for job in jobs {
            let fault = world.chance.strikes(&place, fault_rates.queue);
            refused |= fault;
            if fault && world.chance.happens(&place, 500) {
                world.history.note(&self.life.name, || format!("queue {name}: a job is not taken"));
                continue;
            }
            // A job is sent as text, as SQS requires.
            let text = serde_json::to_string(&job).unwrap_or_default();
            if world.mutant.is_some_and(|mutant| mutant.loses(world, &text)) {
                continue;
            }
            let Ok(job) = serde_json::from_str::<J>(&text) else {
                world.report(0, format!("a job of the queue {name} can't be parsed: {text}"));
                continue;
            };
            let late = world.chance.strikes(&format!("{place} late"), fault_rates.late_job);
            let delay = if late {
                world.chance.time(&place, Duration::from_secs(1), Duration::from_secs(90))
            } else {
                Duration::ZERO
            };
            self.queue.put(job, Instant::now() + delay);
        }
        world.after_call(&self.life, name).await;
        if refused { Err(QueueError("the queue did not answer".into())) } else { Ok(()) }
    }
}

/// One delivery of a job.
pub struct SimDelivery<J> {
    queue: Arc<SimQueue<J>>,
    life: Arc<Life>,
    id: u64,
    pub(crate) ends_at: Instant,
}

#[async_trait]
impl<J: Job> Delivery for SimDelivery<J> {
    async fn hold(&self, time: Duration) {
        self.life.until_running().await;
        self.queue.again(self.id, Instant::now() + time.min(self.queue.hidden));
    }

    fn ends_at(&self) -> Option<Instant> {
        Some(self.ends_at)
    }
}
