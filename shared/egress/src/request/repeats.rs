//! What is tried again, and when.

use std::time::Duration;

use http::{
    HeaderMap, HeaderName, StatusCode,
    header::{DATE, RETRY_AFTER},
};
use reqwest::Response;
use smartspace_domain::durations;
use tokio::time::Instant;

use super::{SendError, failures::Failure};

/// Before each of the repeats.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(400)];

/// The tries of one request.
#[derive(Debug)]
pub(super) struct Tries {
    /// None where only a single try is wanted.
    waits: std::slice::Iter<'static, Duration>,
    end: Instant,
    /// Whether a try before this one reached the server.
    reached: bool,
}

impl Tries {
    /// Before the first try of a request that ends at `end`.
    pub(super) fn new(repeatable: bool, end: Instant) -> Self {
        Self { waits: if repeatable { BACK_OFF.iter() } else { [].iter() }, end, reached: false }
    }

    /// How long to wait before the next try, after an answer that says that the server could not do it now.
    /// None where this is the answer.
    pub(super) fn after_answer(&mut self, response: &Response) -> Option<Duration> {
        self.reached = true;
        let passing =
            [StatusCode::TOO_MANY_REQUESTS, StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT];
        if !passing.contains(&response.status()) {
            return None;
        }
        self.wait(retry_after(response.headers()).unwrap_or_default())
    }

    /// How long to wait before the next try, after one that failed; or the error, where there is none.
    pub(super) fn after(&mut self, failure: Failure) -> Result<Duration, SendError> {
        let failure = if self.reached { failure.after_something_was_sent() } else { failure };
        self.reached |= matches!(failure.error, SendError::Unknown(_));
        let wait = if failure.is_passing { self.wait(Duration::ZERO) } else { None };
        wait.ok_or(failure.error)
    }

    fn wait(&mut self, asked: Duration) -> Option<Duration> {
        let wait = asked.max(*self.waits.next()?);
        // Who would wait until the end has no time left to ask again.
        (Instant::now() + wait < self.end).then_some(wait)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    durations::retry_after(text(RETRY_AFTER)?, text(DATE))
}

#[cfg(test)]
mod tests;
