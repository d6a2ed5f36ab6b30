//! A request of a tool, its response, and the trait of a transport that replaces the network.
//!
//! The rest of the crate depends on these types, and they depend on nothing in it.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{
        ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, PROXY_AUTHORIZATION, TE,
        TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};
use reqwest::Url;
use smartspace_ports::secrets::Secret;

/// How much of a response body is read, in bytes.
pub(crate) const LONGEST_BODY: usize = 1024 * 1024;

/// Headers that only the HTTP client sets, because they describe the connection.
pub(crate) const CONNECTION_HEADERS: [HeaderName; 11] = [
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

#[derive(Clone)]
pub struct Outgoing {
    /// HTTP method.
    pub method: Method,
    /// Target of the request.
    pub url: Url,
    /// Headers of the request. Values that contain secrets must be marked as sensitive. Headers of
    /// the connection (`host`, `content-length`, `accept-encoding` and similar) are not sent.
    pub headers: HeaderMap,
    /// Body of the request.
    pub body: Option<Bytes>,
    /// Time limit for the whole exchange, including retries and redirects.
    pub limit: Duration,
    /// Whether the request may be retried although an earlier try may have taken effect.
    pub repeatable: bool,
    /// Whether only the status of the answer counts. Then no redirect is followed, and no body is
    /// read.
    pub only_status: bool,
    /// The secrets in the request. It is refused if one of them may not go to its host.
    pub secrets: Vec<Secret>,
}

impl fmt::Debug for Outgoing {
    /// Leaves out all fields that may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("host", &self.url.host_str())
            .finish_non_exhaustive()
    }
}

/// A response with any status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// HTTP status.
    pub status: StatusCode,
    /// Value of the header `content-type`.
    pub content_type: Option<String>,
    /// The decompressed body, at most its first MiB. Of a picture, at most as much as is stored
    /// of one.
    pub body: Bytes,
    /// Whether the body was longer.
    pub is_cut: bool,
}

/// A request without a response. The text is for the model and for operators. It contains neither
/// secrets nor the query of the URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The request may not be sent: its address or one of its secrets is not allowed.
    #[error("{0}")]
    Refused(String),
    /// The request did not reach the server.
    #[error("{0}")]
    NotSent(String),
    /// The request may have taken effect.
    #[error("{0}")]
    Unknown(String),
}

/// Replaces the network, for example in the simulation.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Answers a request in place of the server.
    ///
    /// # Errors
    /// Why there is no response.
    async fn send(&self, request: Outgoing) -> Result<HttpResponse, SendError>;
}
