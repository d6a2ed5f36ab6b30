//! The clock, an input of everything that depends on time.

use std::time::{SystemTime, UNIX_EPOCH};

use smartspace_domain::Time;

/// Gives the current time. Waiting is done with tokio, whose time tests can pause.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Time;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
