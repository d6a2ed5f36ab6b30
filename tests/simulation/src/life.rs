//! The life of one process: it may stand still, and it dies once.

use std::{sync::Mutex, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::locked;

/// The life of one process.
#[derive(Debug)]
pub struct Life {
    /// Its name in histories.
    pub name: String,
    dead: watch::Sender<bool>,
    stalled_until: Mutex<Option<Instant>>,
}

impl Life {
    /// A new one.
    pub fn new(name: String) -> Self {
        Self { name, dead: watch::Sender::new(false), stalled_until: Mutex::default() }
    }

    /// Ends it. Whatever the process had begun stays as it is. Whether it lived until now.
    pub fn end(&self) -> bool {
        !self.dead.send_replace(true)
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        *self.dead.borrow()
    }

    /// Waits until it is over.
    pub async fn over(&self) {
        let mut dead = self.dead.subscribe();
        let _ = dead.wait_for(|dead| *dead).await;
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
