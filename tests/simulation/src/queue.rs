//! A queue, which all processes share. It delivers its jobs in any order, and a job again if it
//! is not removed in time.
//!
//! [`crate::ports::queue`] has the port through which processes reach it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use smartspace_domain::jobs::Job;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{chance::Chance, history::History, locked};

/// How often a job is delivered before it counts as dead.
const MAX_DELIVERIES: u32 = 5;
/// A job that failed this often in the calm phase, in which nothing else fails, can't succeed.
const FAILURES_IN_CALM: u32 = 3;
/// Of how many jobs a queue keeps copies, for a redrive at the end.
const COPIES: usize = 6;

pub struct SimQueue<J> {
    name: &'static str,
    state: Mutex<State<J>>,
    changed: Notify,
    /// How long a delivered job is hidden.
    hidden: Duration,
}

struct State<J> {
    jobs: Vec<Waiting<J>>,
    next: u64,
    /// Copies of some jobs.
    copies: Vec<J>,
    /// The jobs that were delivered too often.
    dead: Vec<J>,
    /// How many of them failed in the calm phase.
    died_in_calm: usize,
}

struct Waiting<J> {
    id: u64,
    job: J,
    visible_at: Instant,
    delivered: u32,
    delivered_in_calm: u32,
}

impl<J: Job> SimQueue<J> {
    pub fn new(name: &'static str, hidden: Duration) -> Arc<Self> {
        Arc::new(Self {
            name,
            state: Mutex::new(State {
                jobs: Vec::new(),
                next: 0,
                copies: Vec::new(),
                dead: Vec::new(),
                died_in_calm: 0,
            }),
            changed: Notify::new(),
            hidden,
        })
    }

    /// The name of the queue, which histories show.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How long a delivered job is hidden.
    pub(crate) fn hidden(&self) -> Duration {
        self.hidden
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

    /// Whether no job is delivered, and none becomes visible within this time.
    pub(crate) fn is_idle(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let waits = |waiting: &Waiting<J>| waiting.delivered == 0 && waiting.visible_at > until;
        locked(&self.state).jobs.iter().all(waits)
    }

    /// How many jobs failed again and again in the calm phase.
    pub(crate) fn died_in_calm(&self) -> usize {
        locked(&self.state).died_in_calm
    }

    /// Sends again every dead letter, and copies of some jobs that were handled.
    pub(crate) fn redrive(&self) {
        let again = {
            let mut state = locked(&self.state);
            let mut again = std::mem::take(&mut state.dead);
            again.append(&mut state.copies);
            again
        };
        for job in again {
            self.put(job, Instant::now());
        }
    }

    /// Adds a job that becomes visible at this time.
    pub(crate) fn put(&self, job: J, visible_at: Instant) {
        let mut state = locked(&self.state);
        state.next += 1;
        let id = state.next;
        if state.copies.len() < COPIES {
            state.copies.push(job.clone());
        } else if id.is_multiple_of(5) {
            state.copies[id as usize / 5 % COPIES] = job.clone();
        }
        state.jobs.push(Waiting { id, job, visible_at, delivered: 0, delivered_in_calm: 0 });
        drop(state);
        self.changed.notify_one();
    }

    /// Removes a job that was handled.
    pub(crate) fn remove(&self, id: u64) {
        locked(&self.state).jobs.retain(|waiting| waiting.id != id);
    }

    /// Makes a job visible again at this time.
    pub(crate) fn show_at(&self, id: u64, visible_at: Instant) {
        if let Some(waiting) = locked(&self.state).jobs.iter_mut().find(|waiting| waiting.id == id)
        {
            waiting.visible_at = visible_at;
        }
        self.changed.notify_one();
    }

    /// Takes one of the visible jobs at random. Returns its number, the job, and whether it was
    /// delivered before.
    pub(crate) async fn take(&self, chance: &Chance, history: &History) -> (u64, J, bool) {
        loop {
            let changed = self.changed.notified();
            let now = Instant::now();
            let earliest = {
                let mut state = locked(&self.state);
                let visible: Vec<usize> =
                    (0..state.jobs.len()).filter(|&at| state.jobs[at].visible_at <= now).collect();
                if visible.is_empty() {
                    state.jobs.iter().map(|waiting| waiting.visible_at).min()
                } else {
                    let chosen =
                        visible[chance.below(self.name, visible.len().min(6) as u64) as usize];
                    let waiting = &mut state.jobs[chosen];
                    if waiting.delivered >= MAX_DELIVERIES {
                        history.note(self.name, || "a job lies dead".into());
                        let Waiting { job, delivered_in_calm, .. } = state.jobs.remove(chosen);
                        state.died_in_calm += usize::from(delivered_in_calm >= FAILURES_IN_CALM);
                        state.dead.push(job);
                        continue;
                    }
                    waiting.delivered += 1;
                    waiting.delivered_in_calm += u32::from(chance.is_calm());
                    waiting.visible_at = now + self.hidden;
                    return (waiting.id, waiting.job.clone(), waiting.delivered > 1);
                }
            };
            match earliest {
                Some(earliest) => {
                    tokio::select! { biased; () = changed => {}, () = sleep_until(earliest) => {} }
                }
                None => changed.await,
            }
        }
    }
}
