//! Optimistic retry: a change is read, decided and written on the condition that what was read is
//! unchanged. If another writer was faster, all of it is done again.

use std::time::Duration;

use smartspace_domain::ids::EntityId;
use tokio::{
    sync::{Mutex, MutexGuard},
    time::Instant,
};

use crate::{Error, Result, Store, table::Table};

/// How long a change is tried again.
pub const RETRIED_FOR: Duration = Duration::from_secs(5);

/// Why a change of an agent's runs gave up.
pub(crate) const RUNS_CHANGE: &str = "the runs of this agent change all the time";

/// The tries of one change.
pub(crate) struct OptimisticRetry<'a> {
    table: &'a Table,
    /// The lock that the change waits for after its first conflict.
    lock: Option<&'a Mutex<()>>,
    locked: Option<MutexGuard<'a, ()>>,
    until: Instant,
    tries: u32,
}

impl Store {
    /// The tries of a change whose rivals are in other processes.
    pub(crate) fn optimistic_retry(&self) -> OptimisticRetry<'_> {
        OptimisticRetry {
            table: &self.table,
            lock: None,
            locked: None,
            until: Instant::now() + RETRIED_FOR,
            tries: 0,
        }
    }

    /// The tries of a change to the runs or the state of an agent. From its first conflict until it
    /// is dropped, no other change of this process that had a conflict is tried, so that hundreds
    /// of runs that are resumed at once change the agent one after the other. A change without a
    /// conflict waits for none.
    pub(crate) fn optimistic_retry_of(&self, agent: EntityId) -> OptimisticRetry<'_> {
        OptimisticRetry { lock: Some(self.agent_locks.of_agent(agent)), ..self.optimistic_retry() }
    }
}

impl OptimisticRetry<'_> {
    /// Waits until the next try. Fails with [`Error::Retry`] and the text `over` after conflicts
    /// for five seconds.
    pub(crate) async fn after_conflict(&mut self, over: &str) -> Result<()> {
        if let Some(lock) = self.lock.take() {
            if let Ok(locked) = lock.try_lock() {
                self.locked = Some(locked);
            } else {
                self.locked = Some(lock.lock().await);
                self.until = Instant::now() + RETRIED_FOR;
                return Ok(());
            }
        }
        if Instant::now() >= self.until {
            return Err(Error::Retry(over.to_owned()));
        }
        self.table.pause(self.tries).await;
        self.tries += 1;
        Ok(())
    }
}
