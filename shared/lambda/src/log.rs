//! The log: one JSON line per event on standard output, with CloudWatch metrics. Once the stack's
//! secrets are read, they are redacted.

use std::{io::stdout, sync::LazyLock};

use smartspace_ports::log::{Concealed, JsonLines};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, Targets},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

static SECRETS: LazyLock<Concealed> = LazyLock::new(Concealed::default);

/// Starts the log with a filter. An invalid filter counts as `info`. With `stack`, some lines are
/// also metrics of that deployment.
pub fn start(filter: &str, stack: Option<String>) {
    // Levels per module, such as `info,smartspace_run=debug`. The filter that also knows spans and
    // fields would add a regular expression engine to each function.
    let filter: Targets =
        filter.parse().unwrap_or_else(|_| Targets::new().with_default(LevelFilter::INFO));
    // This library logs the inputs of tools, and every unreachable server as an error of ours.
    let filter = filter.with_target("rmcp", LevelFilter::OFF);
    // Its span would give our lines Lambda's id under the name of ours.
    let filter = filter.with_target("lambda_runtime", LevelFilter::WARN);
    let lines = JsonLines::new(stdout(), SECRETS.clone(), stack);
    // A second call, as in tests, has no effect.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
}

/// The secrets that are redacted.
pub(crate) fn secrets() -> &'static Concealed {
    &SECRETS
}
