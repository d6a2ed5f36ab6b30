//! The HTTP client that providers are asked with. One client serves all, so that connections and certificates are kept.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect::Policy};

/// How long a connection may take to open. How long an answer may take is bounded by [`crate::limits::Limits`].
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client's settings. No redirects: a prompt goes nowhere but where the configuration says. No compression, which would hold back what is streamed.
pub fn client() -> ClientBuilder {
    Client::builder().redirect(Policy::none()).no_gzip().connect_timeout(CONNECT_TIMEOUT)
}
