//! How failed calls are classified and retried.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    Error, Result,
    table::{Table, database::Failure},
};

/// How long a call is retried while its outcome is unknown.
const RETRIED_FOR: Duration = Duration::from_secs(5);

impl Table {
    /// Waits a random time from 0 to min(100, 5·2ᵏ) ms after the k-th try.
    pub async fn pause(&self, tries: u32) {
        let most = (5_u64 << tries.min(5)).min(100) * 1_000;
        let micros = (self.random)() % u128::from(most);
        tokio::time::sleep(Duration::from_micros(micros as u64)).await;
    }

    pub(crate) fn retries(&self) -> RetryBudget<'_> {
        RetryBudget { table: self, until: Instant::now() + RETRIED_FOR, tries: 0 }
    }
}

/// How long one call may still be retried.
pub(crate) struct RetryBudget<'a> {
    table: &'a Table,
    until: Instant,
    tries: u32,
}

impl RetryBudget<'_> {
    /// Waits before the next try. Returns the error if a retry can't help or the time is up.
    pub(crate) async fn wait(&mut self, error: Error) -> Result<()> {
        if !matches!(error, Error::Retry(_)) || Instant::now() >= self.until {
            return Err(error);
        }
        self.table.pause(self.tries).await;
        self.tries += 1;
        Ok(())
    }

    /// The same for a read that failed.
    pub(crate) async fn wait_after_read(&mut self, failure: Failure) -> Result<()> {
        let error = match failure {
            Failure::Transient(text) => Error::Retry(text),
            Failure::Condition(_) => Error::Internal("a read can't fail a condition".into()),
            Failure::Final(text) => Error::Internal(text),
        };
        self.wait(error).await
    }
}
