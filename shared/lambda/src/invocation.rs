//! The span of an invocation. It gives each line of the log the ids under which Lambda and API
//! Gateway know the invocation, so that a line of their logs leads to ours, and back.
//!
//! API Gateway can log the address of a caller, but it can't hash it, so the hash is in our lines.

use std::{
    fmt::Write,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use lambda_runtime::Context;
use sha2::{Digest, Sha256};
use smartspace_domain::{Time, days::Day};
use smartspace_ports::clock::{Clock, SystemClock};
use tracing::{Span, field::Empty};

/// How the log shows the addresses of callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Not at all.
    Omitted,
    /// As a hash that is another one each day and for each deployment.
    Hashed {
        /// The id of the deployment.
        stack: String,
    },
    /// As they are.
    Plain,
}

/// Bytes of a hash that a line shows. They tell a day's callers apart.
const SHOWN_BYTES: usize = 8;

impl Sources {
    /// Reads the setting of the deployment `stack`. An empty text is `hashed`.
    pub fn read(text: &str, stack: &str) -> Result<Self, String> {
        match text {
            "" | "hashed" => Ok(Self::Hashed { stack: stack.to_owned() }),
            "plain" => Ok(Self::Plain),
            "none" => Ok(Self::Omitted),
            _ => Err(format!("expected hashed, plain or none, got {text:?}")),
        }
    }

    fn shown(&self, address: &str, now: Time) -> Option<String> {
        match self {
            Self::Omitted => None,
            Self::Plain => Some(address.to_owned()),
            Self::Hashed { stack } => {
                let text = format!("{stack}\0{}\0{address}", Day::of(now));
                let hash = Sha256::digest(text);
                Some(hash.iter().take(SHOWN_BYTES).fold(String::new(), |mut shown, byte| {
                    // Writing to a text does not fail.
                    let _ = write!(shown, "{byte:02x}");
                    shown
                }))
            }
        }
    }
}

static SOURCES: OnceLock<Sources> = OnceLock::new();

/// Whether this environment has had an invocation.
static IS_WARM: AtomicBool = AtomicBool::new(false);

/// Sets how the log shows the addresses of callers. A second call, as in tests, has no effect.
pub(crate) fn show(sources: Sources) {
    let _ = SOURCES.set(sources);
}

/// What API Gateway knows about a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gateway<'a> {
    pub(crate) request_id: Option<&'a str>,
    pub(crate) source: Option<&'a str>,
}

/// The span for everything that an invocation does. `gateway` is empty for one that does not come
/// from API Gateway.
pub(crate) fn span(context: &Context, gateway: Gateway<'_>) -> Span {
    let span = tracing::info_span!(
        "invocation",
        lambda_request_id = context.request_id,
        api_request_id = gateway.request_id,
        request_id = Empty,
        source = Empty,
        cold_start = Empty,
    );
    let source = gateway.source.zip(SOURCES.get());
    if let Some(source) = source.and_then(|(address, how)| how.shown(address, SystemClock.now())) {
        span.record("source", source);
    }
    if !IS_WARM.swap(true, Ordering::Relaxed) {
        span.record("cold_start", true);
        span.in_scope(|| tracing::info!(event = "cold_start", "a new environment is in use"));
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hashed_address_is_another_one_each_day_and_in_each_deployment() {
        let at = |text: &str| text.parse::<Time>().unwrap();
        let morning = at("2026-11-20T08:00:00.000Z");
        let hashed = |stack| Sources::read("", stack).unwrap();
        let shown = hashed("a").shown("192.0.2.1", morning).unwrap();
        assert_eq!(shown.len(), 2 * SHOWN_BYTES);
        assert!(!shown.contains("192"));
        let evening = at("2026-11-20T23:59:59.999Z");
        assert_eq!(hashed("a").shown("192.0.2.1", evening), Some(shown.clone()));
        for other in [
            hashed("a").shown("192.0.2.2", morning),
            hashed("b").shown("192.0.2.1", morning),
            hashed("a").shown("192.0.2.1", at("2026-11-21T00:00:00.000Z")),
        ] {
            assert_ne!(other, Some(shown.clone()));
        }
    }

    #[test]
    fn addresses_are_shown_plainly_or_omitted_only_if_that_is_set() {
        let now = Time::from_millis(0);
        let shown = |text| Sources::read(text, "a").unwrap().shown("192.0.2.1", now);
        assert_eq!(shown("plain").as_deref(), Some("192.0.2.1"));
        assert_eq!(shown("none"), None);
        assert_eq!(shown(""), shown("hashed"));
        let wrong = Sources::read("yes", "a").unwrap_err();
        assert_eq!(wrong, "expected hashed, plain or none, got \"yes\"");
    }
}
