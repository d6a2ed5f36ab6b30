//! Smartspace on one machine, in one process: the same six libraries that run on AWS, with
//! in-process adapters.
//!
//! - [`flags`]: the settings; the one place that reads the environment
//! - [`host`]: builds everything, serves until SIGTERM or SIGINT, and shuts down
//! - [`web_server`]: the HTTP server
//! - [`socket_server`]: the WebSocket server
//! - [`embedded_table`]: an embedded DynamoDB that answers the store and the AWS SDK
//! - [`in_process_queue`], [`in_process_sockets`], [`in_process_alarms`],
//!   [`in_process_cancel_signal`]: the adapters of the ports
//! - [`data_folder`]: the folder with the data
//! - [`environment_secrets`]: the secrets of tools and webhooks
//! - [`demo`]: the first space
//! - [`log`]: the log

mod data_folder;
mod demo;
pub mod embedded_table;
mod environment_secrets;
mod flags;
mod host;
mod in_process_alarms;
pub mod in_process_cancel_signal;
mod in_process_queue;
mod in_process_sockets;
mod log;
mod socket_server;
mod web_server;

use std::{io::Write, process::ExitCode, sync::Arc};

use clap::Parser;
use smartspace_store::table::database::Database;

use crate::{embedded_table::EmbeddedTable, flags::Flags};

/// Every table call allocates and frees hundreds of small strings. With the system's allocator a
/// third of a call's time was spent on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Threads for calls to a table on disk.
const BLOCKING_THREADS: usize = 4;

/// What answers the store's calls.
pub type Connect = fn(&EmbeddedTable) -> Arc<dyn Database>;

/// Runs the product until SIGTERM or SIGINT.
pub fn main() -> ExitCode {
    main_on(|table| Arc::new(table.clone()))
}

/// Runs the product with other answers to its calls, for tests with a table that behaves worse.
pub fn main_on(connect: Connect) -> ExitCode {
    let flags = Flags::parse();
    // Invalid secrets are reported when the flags are checked.
    log::start(&flags.log, Arc::new(flags.secrets().unwrap_or_default()));
    // Each client uses a file descriptor. Many systems allow a process only about a thousand.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
    match run(flags, connect) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If this fails, there is no way left to report the error.
            let _ = writeln!(std::io::stderr(), "smartspace: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Flags, connect: Connect) -> Result<(), String> {
    flags.check()?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // Blocking threads wait for the table's single lock, so more of them would only use memory.
    let runtime = runtime
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(|error| format!("the async runtime could not be started: {error}"))?;
    let result = runtime.block_on(host::run(flags, connect));
    // A run that is cut off here has released its lease, or the next start resumes it.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    result
}
