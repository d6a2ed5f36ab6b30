//! The HTTP client for the providers. One client serves them all, so that they share connections
//! and certificates.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect::Policy};

/// How long a connection may take to open. [`crate::limits::Limits`] bounds the answer.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of the client. It follows no redirects, because a prompt must go only to the
/// configured address. It accepts no compression, which would delay streamed pieces.
pub fn client() -> ClientBuilder {
    Client::builder().redirect(Policy::none()).no_gzip().connect_timeout(CONNECT_TIMEOUT)
}
