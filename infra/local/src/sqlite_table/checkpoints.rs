//! Checkpoints of the write-ahead log, away from the calls of the product.
//!
//! A call that fills the log would otherwise copy it into the database itself, and wait for the
//! disk.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use rusqlite::{Connection, OpenFlags};

/// A connection that makes checkpoints only.
#[derive(Debug)]
pub(crate) struct Checkpoints(Mutex<Connection>);

impl Checkpoints {
    /// Of the database in the file `path`.
    pub(crate) fn of(path: &Path) -> Result<Self, String> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(path, flags)
            .map(|connection| Self(Mutex::new(connection)))
            .map_err(|error| format!("the table {} can't be opened again: {error}", path.display()))
    }

    /// Copies into the database what nobody is reading from the log. Waits for nobody, and nobody
    /// waits for it.
    pub(crate) fn make(&self) -> Result<(), String> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|error| error.to_string())
    }
}
