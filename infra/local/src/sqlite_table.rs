//! The table of the local host: a database on SQLite that answers the store's calls as DynamoDB
//! does.
//!
//! It knows as much of DynamoDB as the store uses, and refuses the rest.
//! `tests/simulation/tests/same_answers.rs` compares it with an emulation of all of DynamoDB.
//!
//! - `calls`: the calls
//! - `conditions`, `updates`, `expressions`, `values`: DynamoDB's expressions
//! - `rows`: the SQL
//! - `checkpoints`: when the log is copied into the file

mod calls;
mod checkpoints;
mod conditions;
mod expressions;
mod rows;
#[cfg(test)]
mod tests;
mod updates;
mod values;

use std::{path::Path, sync::Arc};

use smartspace_store::table::{database::Failure, write::Item};
use tokio::sync::{Mutex, MutexGuard};

pub(crate) use self::checkpoints::Checkpoints;
use self::rows::{LAYOUT, Rows};

/// How many items a search for expired ones looks at before other calls have their turn.
const LOOKED_AT: i64 = 64;

/// A table in a file or in memory.
#[derive(Clone, Debug)]
pub struct SqliteTable {
    rows: Arc<Mutex<Rows>>,
}

impl SqliteTable {
    /// The table in the file `path`, which is created if it is missing.
    pub fn open(path: &Path) -> Result<Self, String> {
        refuse_lost_file(path)?;
        let failed = |error: rusqlite::Error| {
            format!("the table {} can't be opened: {error}", path.display())
        };
        let mut rows = Rows::open(path).map_err(failed)?;
        match rows.layout().map_err(failed)? {
            Some(LAYOUT) => {}
            None => rows.lay_out().map_err(failed)?,
            Some(other) => {
                return Err(format!(
                    "the table {} has layout {other}, and this version reads layout {LAYOUT}: \
                     start the version that wrote it, or choose another folder with --data",
                    path.display()
                ));
            }
        }
        Ok(Self::of(rows))
    }

    pub fn in_memory() -> Result<Self, String> {
        let rows = Rows::in_memory();
        Ok(Self::of(rows.map_err(|error| format!("the table can't be created: {error}"))?))
    }

    fn of(rows: Rows) -> Self {
        Self { rows: Arc::new(Mutex::new(rows)) }
    }

    /// Every item, for tests.
    pub async fn scan(&self) -> Result<Vec<Item>, String> {
        self.rows.lock().await.all().map_err(|error| error.to_string())
    }

    /// Deletes what expired before `now`, in seconds since 1970, as DynamoDB does by itself.
    /// Blocks, but never for long while others wait. Returns how many items it deleted.
    pub fn delete_expired(&self, now: i64) -> Result<usize, String> {
        let mut looked_until = 0;
        let mut deleted = 0;
        loop {
            let mut rows = self.rows.blocking_lock();
            let failed = |error: rusqlite::Error| error.to_string();
            let Some(until) = rows.after(looked_until, LOOKED_AT).map_err(failed)? else {
                return Ok(deleted);
            };
            deleted += rows.delete_expired(looked_until, until, now).map_err(failed)?;
            looked_until = until;
        }
    }

    /// Makes a call at once if no other is under way. Otherwise a thread that may block waits for
    /// its turn. The turn ends when the call drops the rows.
    async fn with_turn<T: Send + 'static>(
        &self,
        operation: &'static str,
        call: impl FnOnce(MutexGuard<'_, Rows>) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        tracing::trace!(operation, "table call");
        // A call that need not wait never gives way to other tasks otherwise.
        tokio::task::coop::consume_budget().await;
        if let Ok(rows) = self.rows.try_lock() {
            return Ok(call(rows));
        }
        let rows = Arc::clone(&self.rows);
        let waited = tokio::task::spawn_blocking(move || call(rows.blocking_lock()));
        waited.await.map_err(|error| Failure::Transient(format!("a table call broke off: {error}")))
    }
}

/// Fails if the file is empty or missing while its log has content: SQLite would begin a new table
/// and throw the log away.
fn refuse_lost_file(path: &Path) -> Result<(), String> {
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if length(path) == 0 && length(Path::new(&log)) > 0 {
        return Err(format!(
            "the table {} is empty, but its log {} is not: expected both files of one backup",
            path.display(),
            Path::new(&log).display()
        ));
    }
    Ok(())
}
