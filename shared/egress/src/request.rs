//! Sends a request within its time limit.
//!
//! - [`hops`]: follows redirects and checks each target like the first one
//! - [`reading`]: reads the response up to a size limit
//! - [`repeats`]: decides which tries to repeat, and when
//! - [`failures`]: errors, as texts for the model

use std::time::Duration;

use bytes::Bytes;

use tokio::time::{Instant, sleep, timeout_at};

use crate::{Egress, HttpResponse, Outgoing, SendError};

mod failures;
mod hops;
mod reading;
mod repeats;

use failures::Failure;
use repeats::Tries;

/// The longest limit of any request, so that adding it to the current time can't overflow.
const LONGEST: Duration = Duration::from_hours(24);

impl Egress {
    /// Sends a request, follows its redirects and reads the response, all within its limit.
    ///
    /// # Errors
    /// Why there is no response. The text contains no secrets, even if the server repeats them.
    pub async fn send(&self, request: Outgoing) -> Result<HttpResponse, SendError> {
        // Read before sending: without the secrets no error text can be checked for them.
        let known = self.secrets().await?;
        let sent = match self.transport() {
            Some(transport) => transport.send(request).await,
            None => self.send_over_network(request).await,
        };
        sent.map_err(|error| match error {
            SendError::Refused(text) => SendError::Refused(known.redact(&text).into_owned()),
            SendError::NotSent(text) => SendError::NotSent(known.redact(&text).into_owned()),
            SendError::Unknown(text) => SendError::Unknown(known.redact(&text).into_owned()),
        })
    }

    async fn send_over_network(&self, request: Outgoing) -> Result<HttpResponse, SendError> {
        let limit = Limit::from_now(request.limit);
        let mut tries = Tries::new(request.repeatable, limit.end);
        loop {
            let response = match limit
                .apply("the server did not answer", hops::follow(self, &request))
                .await
            {
                Ok(response) => response,
                Err(failure) => {
                    sleep(tries.after(failure)?).await;
                    continue;
                }
            };
            if let Some(wait) = tries.after_answer(&response) {
                // Closes the connection before the wait instead of after it.
                drop(response);
                sleep(wait).await;
                continue;
            }
            if request.only_status {
                return Ok(HttpResponse {
                    status: response.status(),
                    content_type: None,
                    body: Bytes::new(),
                    is_cut: false,
                });
            }
            match limit.apply("the server did not finish its answer", reading::read(response)).await
            {
                Ok(answer) => return Ok(answer),
                Err(failure) => sleep(tries.after(failure)?).await,
            }
        }
    }
}

/// The time limit of a request.
struct Limit {
    end: Instant,
    total: Duration,
}

impl Limit {
    fn from_now(limit: Duration) -> Self {
        let total = limit.min(LONGEST);
        Self { end: Instant::now() + total, total }
    }

    /// `failure` is the start of the error text if the limit ends first.
    async fn apply<T>(
        &self,
        failure: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let late = || {
            Failure::permanent(SendError::Unknown(format!(
                "{failure} within {} s",
                self.total.as_secs_f64()
            )))
        };
        timeout_at(self.end, work).await.unwrap_or_else(|_| Err(late()))
    }
}

#[cfg(test)]
mod tests;
