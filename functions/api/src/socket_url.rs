//! The address of the WebSocket, which tickets and the console's policy name.

use axum::http::HeaderMap;
use smartspace_web::PublicAddress;

/// The address at which browsers open WebSockets.
#[derive(Clone, Debug)]
pub enum SocketUrl {
    Fixed(String),
    /// This path at the public address of the API.
    Under(&'static str),
}

impl SocketUrl {
    /// The address for the sender of a request with these headers.
    pub(crate) fn address(&self, api: &PublicAddress, headers: &HeaderMap) -> String {
        match self {
            Self::Fixed(url) => url.clone(),
            Self::Under(path) => format!("{}{path}", api.socket(headers)),
        }
    }
}
