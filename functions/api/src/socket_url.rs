//! The address of the WebSocket, which tickets and the console's policy name.

use axum::http::HeaderMap;
use smartspace_web::host_address;

/// The address at which browsers open WebSockets.
#[derive(Clone, Debug)]
pub enum SocketUrl {
    Fixed(String),
    /// This path on the host that the request was sent to.
    OfHost(&'static str),
}

impl SocketUrl {
    /// The address for the sender of a request with these headers.
    pub(crate) fn address(&self, headers: &HeaderMap) -> String {
        match self {
            Self::Fixed(url) => url.clone(),
            Self::OfHost(path) => format!("{}{path}", host_address("ws", headers)),
        }
    }
}
