//! Counting what is being done, so that who wants to end can wait for it.

use tokio::sync::watch;

/// One is counted as long as this lives.
#[derive(Debug)]
pub struct Counted(watch::Sender<usize>);

impl Counted {
    /// Counts one.
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
