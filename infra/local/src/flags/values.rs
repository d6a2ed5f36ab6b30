//! Reads the values of single settings.

use std::{collections::BTreeMap, ffi::OsString, net::SocketAddr, time::Duration};

use smartspace_domain::{
    durations::WrittenDuration, prices::PriceTable, providers::Providers, web_origins::origin,
};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::time_limits::TimeLimits;

/// How long ended runs are stored. `None` stores them forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeepRuns(pub(crate) Option<Duration>);

/// The table of prices in a file, or the built-in table if no file is named.
pub(super) fn prices(path: &str) -> Result<PriceTable, String> {
    if path.is_empty() {
        return Ok(PriceTable::built_in());
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    PriceTable::read(&text).map_err(|error| format!("{path}: {error}"))
}

/// The providers in a file, or those that exist without one if no file is named.
pub(super) fn providers(path: &str) -> Result<Providers, String> {
    if path.is_empty() {
        return Ok(Providers::default());
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Providers::read(&text).map_err(|error| format!("{path}: {error}"))
}

pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let address = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    };
    address.map_err(|_| "expected an address and a port, such as 127.0.0.1:7700".to_owned())
}

/// A filter of the log. A single word that is no level would be taken for the name of a module, and
/// everything else would be silent.
pub(super) fn log_filter(text: &str) -> Result<String, String> {
    let has_level = |part: &str| {
        let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
        level.trim().parse::<LevelFilter>().is_ok()
    };
    if text.split(',').all(has_level) && EnvFilter::try_new(text).is_ok() {
        return Ok(text.to_owned());
    }
    Err("expected error, warn, info, debug, trace or off, or a filter such as \
         `info,smartspace_run=debug`"
        .into())
}

pub(super) fn keep_runs(text: &str) -> Result<KeepRuns, String> {
    if let Ok(days) = text.parse::<u32>() {
        return Ok(KeepRuns((days > 0).then(|| Duration::from_hours(24) * days)));
    }
    let written =
        text.parse::<WrittenDuration>().map_err(|error| format!("{error}, or a number of days"))?;
    Ok(KeepRuns(Some(written.length())))
}

/// The environment variables with a prefix, by the rest of their names.
pub(super) fn variables(prefix: &str) -> BTreeMap<String, String> {
    let named = |(name, value): (OsString, OsString)| {
        let name = name.into_string().ok()?;
        let value = value.into_string().ok()?;
        Some((name.strip_prefix(prefix)?.to_owned(), value))
    };
    std::env::vars_os().filter_map(named).collect()
}

/// An environment variable. An empty one counts as not set.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A factor for the limits of time.
pub(super) fn time_limits(text: &str) -> Result<TimeLimits, String> {
    let factor = text.parse().ok().filter(|factor| (0.01..=100.0).contains(factor));
    factor.map(TimeLimits).ok_or_else(|| "expected a number from 0.01 to 100".to_owned())
}

/// An address without a path.
pub(super) fn public_url(text: &str) -> Result<String, String> {
    let expected = "expected an address without a path, such as https://smartspace.example.com";
    let is_web = |url: &String| url.starts_with("https://") || url.starts_with("http://");
    origin(text).ok().filter(is_web).ok_or_else(|| expected.to_owned())
}
