//! Changes that are tried again when they lose a race.

use std::time::Duration;

use smartspace_domain::ids::EntityId;
use tokio::{
    sync::{Mutex, MutexGuard},
    time::Instant,
};

use crate::{Error, Result, Store, table::Table};

/// How long a change that lost a race is tried again.
pub const RACED_FOR: Duration = Duration::from_secs(5);

/// Why a change of an agent's runs gave up.
pub(crate) const RUNS_CHANGE: &str = "the runs of this agent change all the time";

/// The tries of one change.
pub(crate) struct Race<'a> {
    table: &'a Table,
    /// What the change waits for after its first lost race.
    lock: Option<&'a Mutex<()>>,
    locked: Option<MutexGuard<'a, ()>>,
    until: Instant,
    tries: u32,
}

impl Store {
    /// The tries of a change whose rivals are in other processes.
    pub(crate) fn race(&self) -> Race<'_> {
        Race {
            table: &self.table,
            lock: None,
            locked: None,
            until: Instant::now() + RACED_FOR,
            tries: 0,
        }
    }

    /// The tries of a change to the runs or the state of an agent. From its first lost race until
    /// it is dropped, no other loser of this process tries, so that hundreds of runs that are
    /// resumed at once get their turns one after the other. A change that loses nothing waits for
    /// nobody.
    pub(crate) fn race_of(&self, agent: EntityId) -> Race<'_> {
        Race { lock: Some(self.agent_locks.of_agent(agent)), ..self.race() }
    }
}

impl Race<'_> {
    /// Waits until the next try. Fails with [`Error::Retry`] and the text `over` after losing races
    /// for five seconds.
    pub(crate) async fn lost(&mut self, over: &str) -> Result<()> {
        if let Some(lock) = self.lock.take() {
            if let Ok(locked) = lock.try_lock() {
                self.locked = Some(locked);
            } else {
                self.locked = Some(lock.lock().await);
                self.until = Instant::now() + RACED_FOR;
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
