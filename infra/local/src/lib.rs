//! Smartspace on one machine, in one process: the same six libraries that run on AWS, with embedded edges.
//!
//! - [`flags`]: what can be set; the one place that reads the environment
//! - [`host`]: builds everything, serves, and ends
//! - [`web_server`]: the HTTP server
//! - [`embedded_table`]: DynamoDB's SDK, answered in the process
//! - [`in_process_queue`], [`in_process_sockets`], [`in_process_alarms`], [`in_process_bell`]: the edges
//! - [`socket_server`]: the WebSocket server
//! - [`data_folder`], [`environment_secrets`], [`demo`], [`log`]: the folder, what tools name, the first space, the log

mod data_folder;
mod demo;
pub mod embedded_table;
mod environment_secrets;
#[cfg(test)]
mod expired_connections;
mod flags;
mod host;
mod in_process_alarms;
pub mod in_process_bell;
mod in_process_queue;
mod in_process_sockets;
mod log;
#[cfg(test)]
mod lost_answers;
mod socket_server;
mod web_server;

use std::{io::Write, process::ExitCode};

use clap::Parser;

use crate::flags::Flags;

/// Every table call makes and drops hundreds of small strings: the system's allocator took a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Threads for calls of a table on disk.
const BLOCKING_THREADS: usize = 4;

/// Runs the product until it is told to end.
pub fn main() -> ExitCode {
    let flags = Flags::parse();
    // What is wrong with the secrets is said when the flags are checked.
    log::start(&flags.log, std::sync::Arc::new(flags.secrets().unwrap_or_default()));
    // Each browser is a connection, and many systems allow a process only a thousand unless it asks.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "the limit of open connections could not be raised");
    }
    match run(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done where even this can't be said.
            let _ = writeln!(std::io::stderr(), "smartspace: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Flags) -> Result<(), String> {
    flags.check()?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // Blocking threads wait for the table's one lock: more of them would only hold memory.
    let runtime = runtime.enable_all().max_blocking_threads(BLOCKING_THREADS).build().map_err(|error| format!("no runtime: {error}"))?;
    let result = runtime.block_on(host::run(flags));
    // What still runs has given back its lease, or is found by the next start.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    result
}
