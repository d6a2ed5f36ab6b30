//! Counts work in progress, so that a process can wait for all of it before it ends.

use tokio::sync::watch;

/// One piece of work. It is counted until this value is dropped.
#[derive(Debug)]
pub struct Counted(watch::Sender<usize>);

impl Counted {
    /// Adds one to `count`.
    pub fn new(count: watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
