//! Refusals of the API.

use std::time::Duration;

use reqwest::{Response, header::RETRY_AFTER};
use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::errors::Fault;
use tokio::time::sleep;

/// Maximum number of retries of a read after a temporary refusal.
const RETRIES: u32 = 5;

/// A refusal of the API, or the reason why there was no answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {detail}")]
pub struct Refusal {
    /// The HTTP status; 503 if there was no answer.
    pub status: u16,
    /// The problem's `detail`: what is wrong and what was expected.
    pub detail: String,
    /// With status 429, the number of seconds after which the call may be repeated.
    pub retry_after: Option<u64>,
    /// With status 422, the faults of the input.
    pub errors: Box<[Fault]>,
    /// With status 409 to an apply, what would become of each object.
    pub results: Option<Box<Value>>,
}

/// The part of problem details that is used here. [`Problem`](smartspace_domain::problems::Problem)
/// is stricter: it has no field of another version.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct ReceivedProblem {
    detail: String,
    errors: Box<[Fault]>,
    results: Option<Box<Value>>,
}

impl Default for ReceivedProblem {
    fn default() -> Self {
        Self { detail: "the API refused".into(), errors: Box::default(), results: None }
    }
}

impl Refusal {
    /// A refusal that does not say when to retry.
    pub fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), ..Self::default() }
    }

    /// Whether the same call may succeed a moment later.
    pub fn is_temporary(&self) -> bool {
        [429, 503].contains(&self.status)
    }

    /// Waits until the refused read may be repeated, and counts the retry in `retries`.
    ///
    /// Returns the refusal as the error if it is permanent or the read was repeated too often.
    pub async fn wait_before_retry(self, retries: &mut u32) -> Result<(), Self> {
        if !self.is_temporary() || *retries >= RETRIES {
            return Err(self);
        }
        *retries += 1;
        sleep(Duration::from_secs(self.retry_after.unwrap_or(1).clamp(1, 10))).await;
        Ok(())
    }
}

pub(super) async fn refusal_in(answer: Response) -> Refusal {
    let status = answer.status().as_u16();
    let retry_after = answer.headers().get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    // API Gateway itself may answer, and not with problem details.
    let problem: Option<ReceivedProblem> = answer.json().await.ok();
    let ReceivedProblem { detail, errors, results } = problem.unwrap_or_default();
    Refusal { status, detail, retry_after, errors, results }
}
