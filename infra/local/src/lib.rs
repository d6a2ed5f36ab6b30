//! Smartspace on one machine, in one process: the same libraries that run on AWS, with
//! in-process adapters.
//!
//! - [`flags`]: the settings; the one place that reads the environment
//! - [`host`]: builds everything, serves until SIGTERM or SIGINT, and shuts down
//! - [`web_server`]: the HTTP server
//! - [`hosts`], [`bodies`], [`client_stream`], [`time_limits`]: what the server takes from clients
//! - [`socket_server`]: the WebSocket server
//! - [`sqlite_table`]: the table, which answers the store's calls
//! - [`in_process_queue`], [`in_process_sockets`], [`in_process_alarms`],
//!   [`in_process_cancel_signal`]: the adapters of the ports
//! - [`data_folder`]: the folder with the data
//! - [`file_folder`]: the files of spaces, and the routes that upload and download them
//! - [`environment_secrets`]: the secrets of tools and webhooks
//! - [`model_servers`]: what the deployment's own servers of models tell
//! - [`demo`]: the first space
//! - [`log`]: the log
//!
//! `docs/internals/local-host.md` describes the host.

mod bodies;
mod client_stream;
mod data_folder;
mod demo;
mod environment_secrets;
mod file_folder;
mod flags;
mod host;
mod hosts;
mod in_process_alarms;
pub mod in_process_cancel_signal;
mod in_process_queue;
mod in_process_sockets;
mod log;
mod model_servers;
mod socket_server;
pub mod sqlite_table;
mod time_limits;
mod web_server;

use std::{io::Write, path::Path, process::ExitCode, sync::Arc};

use clap::Parser;
use futures::future::BoxFuture;
use smartspace_ports::{
    clock::{Clock, SystemClock},
    log::Concealed,
};
use smartspace_store::table::database::Database;

use crate::{flags::Flags, sqlite_table::SqliteTable};

/// Every table call allocates and frees hundreds of small strings. With the system's allocator a
/// third of a call's time was spent on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Threads for calls to a table on disk.
const BLOCKING_THREADS: usize = 4;

/// The table of the product.
pub struct LocalTable {
    /// What answers the store's calls.
    pub database: Arc<dyn Database>,
    /// Deletes what has expired, as DynamoDB does by itself. Blocks.
    pub delete_expired: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
}

/// Opens the table in a file, or in memory.
pub type OpenTable = fn(Option<&Path>) -> BoxFuture<'_, Result<LocalTable, String>>;

/// Runs the product until SIGTERM or SIGINT.
pub fn main() -> ExitCode {
    main_on(|path| Box::pin(async move { open_table(path) }))
}

fn open_table(path: Option<&Path>) -> Result<LocalTable, String> {
    let table = match path {
        Some(path) => SqliteTable::open(path)?,
        None => SqliteTable::in_memory()?,
    };
    let database = Arc::new(table.clone());
    let delete_expired = move || table.delete_expired(SystemClock.now().as_seconds()).map(drop);
    Ok(LocalTable { database, delete_expired: Arc::new(delete_expired) })
}

/// Runs the product on another table, for tests with one that behaves worse.
pub fn main_on(open: OpenTable) -> ExitCode {
    let mut flags = Flags::parse();
    if let Some(command) = flags.command.take() {
        return smartspace_cli::run(command);
    }
    // Invalid secrets are reported when the flags are checked.
    let concealed = log::start(&flags.log, Arc::new(flags.secrets().unwrap_or_default()));
    // Each client uses a file descriptor. Many systems allow a process only about a thousand.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
    match run(flags, open, &concealed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If this fails, there is no way left to report the error.
            let _ = writeln!(std::io::stderr(), "smartspace: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Flags, open: OpenTable, concealed: &Concealed) -> Result<(), String> {
    flags.check()?;
    // Other users of this machine must not read what this process writes.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // Blocking threads wait for the table's single lock, so more of them would only use memory.
    let runtime = runtime
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(|error| format!("the async runtime could not be started: {error}"))?;
    let result = runtime.block_on(host::run(flags, open, concealed));
    // A run that is cut off here has released its lease, or the next start resumes it.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    result
}
