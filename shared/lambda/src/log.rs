//! The log: one JSON line for each event on standard output, free of the stack's secrets once they are read, and with CloudWatch's metrics in it.

use std::{io::stdout, sync::LazyLock};

use smartspace_edges::log::{Concealed, JsonLines};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, Targets},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

static SECRETS: LazyLock<Concealed> = LazyLock::new(Concealed::default);

/// Begins to log what `filter` lets through; what is no filter is taken for `info`. With `stack` its lines are that deployment's metrics too.
pub fn start(filter: &str, stack: Option<String>) {
    // Levels of modules, such as `info,smartspace_run=debug`: the filter that also knows spans and fields brings regular expressions into each function.
    let filter: Targets = filter.parse().unwrap_or_else(|_| Targets::new().with_default(LevelFilter::INFO));
    // It would log the inputs of tools, and each server that is away as an error of ours.
    let filter = filter.with_target("rmcp", LevelFilter::OFF);
    let lines = JsonLines::new(stdout(), SECRETS.clone(), stack);
    // A second call, in a test, changes nothing.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
}

/// What lines are kept free of.
pub(crate) fn secrets() -> &'static Concealed {
    &SECRETS
}
