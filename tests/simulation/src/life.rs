//! The life of one process: it may stall, and it dies once.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::locked;

/// The life of one process.
#[derive(Debug)]
pub struct Life {
    /// Its name in histories.
    pub name: String,
    dead: AtomicBool,
    /// Wakes its waiters in the order in which they began to wait. A `watch` channel would wake
    /// them in a random order, which is not reproducible.
    died: Notify,
    stalled_until: Mutex<Option<Instant>>,
}

impl Life {
    /// The life of a new process.
    pub fn new(name: String) -> Self {
        Self {
            name,
            dead: AtomicBool::new(false),
            died: Notify::new(),
            stalled_until: Mutex::default(),
        }
    }

    /// Kills the process; its unfinished work stays as it is. Returns whether it was alive.
    pub fn end(&self) -> bool {
        let lived = !self.dead.swap(true, Ordering::Relaxed);
        self.died.notify_waiters();
        lived
    }

    /// Whether the process died.
    pub fn has_ended(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Waits until the process dies.
    pub async fn ended(&self) {
        let died = self.died.notified();
        if !self.has_ended() {
            died.await;
        }
    }

    /// Stalls the process: for `time` none of its calls has an effect.
    pub fn stall(&self, time: Duration) {
        *locked(&self.stalled_until) = Some(Instant::now() + time);
    }

    /// Waits until the process is not stalled. Never returns if the process is dead.
    pub async fn until_running(&self) {
        loop {
            if self.has_ended() {
                std::future::pending::<()>().await;
            }
            let until = *locked(&self.stalled_until);
            match until {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                _ => return,
            }
        }
    }
}
