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
pub struct ProcessLife {
    pub name: String,
    dead: AtomicBool,
    /// Wakes its waiters in the order in which they began to wait. A `watch` channel would wake
    /// them in a random order, which is not reproducible.
    died: Notify,
    stalled_until: Mutex<Option<Instant>>,
    /// Until when its processor is used.
    computes_until: Mutex<Option<Instant>>,
    clock: ClockError,
    began: Instant,
}

/// How the clock of a process differs from the wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockError {
    /// Milliseconds that it is ahead when the process starts.
    pub ahead: i64,
    /// Milliseconds that it gains in a second.
    pub gains: i64,
    /// The most milliseconds that it differs.
    pub most: i64,
}

impl ProcessLife {
    /// The life of a new process with an exact clock.
    pub fn new(name: String) -> Self {
        Self::with_clock(name, ClockError::default())
    }

    /// The life of a new process.
    pub fn with_clock(name: String, clock: ClockError) -> Self {
        Self {
            name,
            clock,
            began: Instant::now(),
            dead: AtomicBool::new(false),
            died: Notify::new(),
            stalled_until: Mutex::default(),
            computes_until: Mutex::default(),
        }
    }

    /// How many milliseconds its clock is ahead of the wall clock now.
    pub fn clock_error(&self) -> i64 {
        let ClockError { ahead, gains, most } = self.clock;
        let gained = self.began.elapsed().as_millis() as i64 * gains / 1_000;
        (ahead + gained).clamp(-most, most)
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

    /// Uses the processor of the process for `time`, after everything else that uses it.
    pub async fn compute(&self, time: Duration) {
        let until = {
            let mut computes_until = locked(&self.computes_until);
            let from = computes_until.unwrap_or(self.began).max(Instant::now());
            *computes_until.insert(from + time)
        };
        sleep_until(until).await;
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
