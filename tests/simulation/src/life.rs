//! The life of one process: it may stand still, and it dies once.

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
    /// Wakes those who wait for it in the order in which they began to; a `watch` channel wakes in a random one.
    died: Notify,
    stalled_until: Mutex<Option<Instant>>,
}

impl Life {
    /// A new one.
    pub fn new(name: String) -> Self {
        Self { name, dead: AtomicBool::new(false), died: Notify::new(), stalled_until: Mutex::default() }
    }

    /// Ends it. Whatever the process had begun stays as it is. Whether it lived until now.
    pub fn end(&self) -> bool {
        let lived = !self.dead.swap(true, Ordering::Relaxed);
        self.died.notify_waiters();
        lived
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Waits until it is over.
    pub async fn over(&self) {
        let died = self.died.notified();
        if !self.is_over() {
            died.await;
        }
    }

    /// Stands still for `time`: nothing that the process does has an effect before.
    pub fn stall(&self, time: Duration) {
        *locked(&self.stalled_until) = Some(Instant::now() + time);
    }

    /// Passes once the process acts; never, where it is dead.
    pub async fn acts(&self) {
        loop {
            if self.is_over() {
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
