//! The log: text on a terminal, JSON elsewhere. It goes to standard error; standard output is for the address.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

/// Begins to log what `filter` lets through; what is no filter is taken for `info`.
pub(crate) fn start(filter: &str) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    // A second call, in a test, changes nothing.
    let _ = if stderr().is_terminal() { log.compact().try_init() } else { log.json().flatten_event(true).try_init() };
}
