//! Decides which tries of a request to repeat, and when.

use std::time::Duration;

use http::{
    HeaderMap, HeaderName, StatusCode,
    header::{DATE, RETRY_AFTER},
};
use reqwest::Response;
use smartspace_domain::durations;
use tokio::time::Instant;

use crate::SendError;
use crate::request::failures::Failure;

/// The shortest wait before each of the two repeats.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(400)];

/// The tries of one request.
#[derive(Debug)]
pub(super) struct Tries {
    /// Empty if the request may not be repeated.
    waits: std::slice::Iter<'static, Duration>,
    end: Instant,
    /// Whether an earlier try may have reached the server.
    reached: bool,
}

impl Tries {
    /// The state before the first try. `end` is the deadline of the request.
    pub(super) fn new(repeatable: bool, end: Instant) -> Self {
        Self { waits: if repeatable { BACK_OFF.iter() } else { [].iter() }, end, reached: false }
    }

    /// How long to wait before the next try, if the response says that the server is temporarily
    /// unable to answer. Returns `None` if this response is final.
    pub(super) fn after_answer(&mut self, response: &Response) -> Option<Duration> {
        self.reached = true;
        let transient = [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ];
        if !transient.contains(&response.status()) {
            return None;
        }
        self.wait(retry_after(response.headers()).unwrap_or_default())
    }

    /// How long to wait before the next try after a failed one. Returns the error if no try
    /// follows.
    pub(super) fn after(&mut self, failure: Failure) -> Result<Duration, SendError> {
        let failure = if self.reached { failure.after_something_was_sent() } else { failure };
        self.reached |= matches!(failure.error, SendError::Unknown(_));
        let wait = if failure.is_transient { self.wait(Duration::ZERO) } else { None };
        wait.ok_or(failure.error)
    }

    fn wait(&mut self, asked: Duration) -> Option<Duration> {
        let wait = asked.max(*self.waits.next()?);
        // After a wait until the deadline no time would be left for the try.
        (Instant::now() + wait < self.end).then_some(wait)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    durations::retry_after(text(RETRY_AFTER)?, text(DATE))
}

#[cfg(test)]
mod tests;
