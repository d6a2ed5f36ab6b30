//! One request of a tool: its limits, its redirects, its repeats.
//!
//! - [`hops`]: the request and its redirects, each of which is checked like the first
//! - [`reading`]: the answer, as much of it as is wanted
//! - [`repeats`]: what is tried again, and when
//! - [`failures`]: what went wrong, in words for the model

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE},
};
use reqwest::Url;
use smartspace_edges::secrets::Secret;
use tokio::time::{Instant, sleep, timeout_at};

use crate::Egress;

pub(crate) mod failures;
mod hops;
mod reading;
mod repeats;

use failures::Failure;
use repeats::Tries;

/// How much of an answer's body is read, in bytes.
pub const BODY_MOST: usize = 1024 * 1024;

/// What belongs to a connection, and so to who makes it.
pub(crate) const OF_THE_CONNECTION: [HeaderName; 11] = [
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// No request waits longer.
const LONGEST: Duration = Duration::from_hours(24);

/// A request that is to be sent.
#[derive(Clone)]
pub struct Outgoing {
    /// How.
    pub method: Method,
    /// Where to.
    pub url: Url,
    /// Its headers; values that hold secrets are marked as sensitive. Those that belong to the connection (`host`, `content-length`,
    /// `accept-encoding` and the like) are left out.
    pub headers: HeaderMap,
    /// What is sent.
    pub body: Option<Bytes>,
    /// For everything, repeats and redirects included.
    pub limit: Duration,
    /// Whether it may be sent again after it may have taken effect.
    pub repeatable: bool,
    /// Those that are in it: it goes to no host that one of them may not go to.
    pub secrets: Vec<Secret>,
}

impl fmt::Debug for Outgoing {
    /// Without what may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("method", &self.method).field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

/// What a server answered, whatever its status is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// What its body is, as the server says.
    pub content_type: Option<String>,
    /// Its body, decompressed: at most [`BODY_MOST`] of it.
    pub body: Bytes,
    /// Whether there was more of it.
    pub is_cut: bool,
}

/// A request was not answered; the text is for the model and for operators, and holds neither secrets nor a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Certainly nothing reached the server.
    #[error("{0}")]
    NotSent(String),
    /// It may have taken effect.
    #[error("{0}")]
    Unknown(String),
}

impl Egress {
    /// Sends a request, follows its redirects and reads its answer, within its limit.
    ///
    /// # Errors
    /// A text without secrets: a server may put what it was told into anything that an error repeats.
    pub async fn send(&self, request: Outgoing) -> Result<Answer, SendError> {
        // Before anything is sent: what can't be searched for them may not be told.
        let known = self.secrets().await?;
        let sent = match self.wire() {
            Some(wire) => wire.send(request).await,
            None => self.send_out(request).await,
        };
        sent.map_err(|error| match error {
            SendError::NotSent(text) => SendError::NotSent(known.redact(&text).into_owned()),
            SendError::Unknown(text) => SendError::Unknown(known.redact(&text).into_owned()),
        })
    }

    async fn send_out(&self, request: Outgoing) -> Result<Answer, SendError> {
        let limit = Limit::from_now(request.limit);
        let mut tries = Tries::new(request.repeatable, limit.end);
        loop {
            let response = match limit.keep("the server did not answer", hops::follow(self, &request)).await {
                Ok(response) => response,
                Err(failure) => {
                    sleep(tries.after(failure)?).await;
                    continue;
                }
            };
            if let Some(wait) = tries.after_answer(&response) {
                // Its connection is closed now, not after the wait.
                drop(response);
                sleep(wait).await;
                continue;
            }
            match limit.keep("the server did not finish its answer", reading::read(response)).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => sleep(tries.after(failure)?).await,
            }
        }
    }
}

/// The time that a request has.
struct Limit {
    end: Instant,
    whole: Duration,
}

impl Limit {
    fn from_now(limit: Duration) -> Self {
        let whole = limit.min(LONGEST);
        Self { end: Instant::now() + whole, whole }
    }

    async fn keep<T>(&self, otherwise: &str, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let late = || Failure::lasting(SendError::Unknown(format!("{otherwise} within {} s", self.whole.as_secs_f64())));
        timeout_at(self.end, work).await.unwrap_or_else(|_| Err(late()))
    }
}

#[cfg(test)]
mod tests;
