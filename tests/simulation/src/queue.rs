//! Queues that deliver at least once: late, twice, in any order, and again after a failure.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::{Error, Result, jobs::Job};
use smartspace_edges::queues::{Delivery, Queue, QueueError};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{life::Life, locked, process::Process, world::World};

/// Deliveries of one job; after them it lies dead.
const DELIVERIES: u32 = 5;

/// A queue.
pub struct SimQueue<J> {
    name: &'static str,
    state: Mutex<State<J>>,
    came: Notify,
    /// For how long a delivered job is hidden from others.
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
    /// An empty one.
    pub fn new(name: &'static str, hidden: Duration) -> Arc<Self> {
        Arc::new(Self { name, state: Mutex::new(State { jobs: Vec::new(), next: 0 }), came: Notify::new(), hidden })
    }

    /// Forgets everything, as the queue of a process that died.
    pub fn clear(&self) {
        locked(&self.state).jobs.clear();
    }

    /// Whether nothing comes within this time.
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
        if let Some(waiting) = locked(&self.state).jobs.iter_mut().find(|waiting| waiting.id == id) {
            waiting.visible_at = visible_at;
        }
        self.came.notify_one();
    }

    /// The next job, of those that can be seen; which of them, is chance.
    async fn next(&self, world: &World) -> (u64, J) {
        loop {
            let came = self.came.notified();
            let now = Instant::now();
            let earliest = {
                let mut state = locked(&self.state);
                let visible: Vec<usize> = (0..state.jobs.len()).filter(|&at| state.jobs[at].visible_at <= now).collect();
                if visible.is_empty() {
                    state.jobs.iter().map(|waiting| waiting.visible_at).min()
                } else {
                    let chosen = visible[world.chance.below(self.name, visible.len().min(6) as u64) as usize];
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
                Some(earliest) => tokio::select! { biased; () = came => {}, () = sleep_until(earliest) => {} },
                None => came.await,
            }
        }
    }

    /// Delivers for ever, each job to a process that chance chooses.
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
            let (queue, world, work) = (Arc::clone(&self), Arc::clone(&world), handle(Arc::clone(&process), job, delivery));
            tokio::spawn(async move {
                let done = tokio::select! {
                    biased;
                    // It comes back when it can be seen again.
                    () = process.life.over() => return,
                    done = work => done,
                };
                queue.finished(&world, id, done);
            });
        }
    }

    fn finished(&self, world: &World, id: u64, done: Result<()>) {
        let later = |to: u64| Instant::now() + world.chance.time(self.name, Duration::from_millis(10), Duration::from_secs(to));
        match done {
            Ok(()) if world.chance.strikes(&format!("{}/twice", self.name), world.plan.weather.twice) => self.again(id, later(40)),
            Ok(()) => self.done(id),
            Err(error) => {
                world.history.note(self.name, || format!("a job failed: {error}"));
                if matches!(error, Error::Internal(_)) {
                    world.complain(0, format!("a job of the queue {} failed by a fault of ours: {error}", self.name));
                }
                self.again(id, later(30));
            }
        }
    }
}

/// A queue as one process reaches it.
pub struct QueueOf<J> {
    pub(crate) world: Arc<World>,
    pub(crate) life: Arc<Life>,
    pub(crate) queue: Arc<SimQueue<J>>,
}

#[async_trait]
impl<J: Job> Queue<J> for QueueOf<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        let (world, weather, name) = (&self.world, &self.world.plan.weather, self.queue.name);
        let place = format!("{}/send {name}", self.life.name);
        world.begins(&self.life, name).await;
        let mut refused = false;
        for job in jobs {
            let fault = world.chance.strikes(&place, weather.queue);
            refused |= fault;
            if fault && world.chance.happens(&place, 500) {
                world.history.note(&self.life.name, || format!("queue {name}: a job is not taken"));
                continue;
            }
            // It travels as text, as through SQS.
            let text = serde_json::to_string(&job).unwrap_or_default();
            if world.planted.is_some_and(|planted| planted.loses(world, &text)) {
                continue;
            }
            let Ok(job) = serde_json::from_str::<J>(&text) else {
                world.complain(0, format!("a job of the queue {name} can't be read again: {text}"));
                continue;
            };
            let late = world.chance.strikes(&format!("{place} late"), weather.late_job);
            let delay = if late { world.chance.time(&place, Duration::from_secs(1), Duration::from_secs(90)) } else { Duration::ZERO };
            self.queue.put(job, Instant::now() + delay);
        }
        world.ends(&self.life, name).await;
        if refused { Err(QueueError("the queue did not answer".into())) } else { Ok(()) }
    }
}

/// The delivery of a job.
pub struct SimDelivery<J> {
    queue: Arc<SimQueue<J>>,
    life: Arc<Life>,
    id: u64,
    pub(crate) ends_at: Instant,
}

#[async_trait]
impl<J: Job> Delivery for SimDelivery<J> {
    async fn hold(&self, time: Duration) {
        self.life.acts().await;
        self.queue.again(self.id, Instant::now() + time.min(self.queue.hidden));
    }

    fn ends_at(&self) -> Option<Instant> {
        Some(self.ends_at)
    }
}
