//! The log: one JSON line per event.

use tracing_subscriber::EnvFilter;

/// Begins to log; `RUST_LOG` is read by the subscriber's own filter, `info` unless set.
pub fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // It would log the inputs of tools, and each server that is away as an error of ours.
    let filter = "rmcp=off".parse().into_iter().fold(filter, EnvFilter::add_directive);
    // A second call changes nothing.
    let _ = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(true).without_time().with_env_filter(filter).try_init();
}
