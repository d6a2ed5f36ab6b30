//! The WebSocket connections of clients.

mod post_permits;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;
use tokio::time::Instant;

pub use self::post_permits::{POSTS_AT_ONCE, PostPermits};

/// The time limit for a post to one connection, from the moment at which it is sent.
pub const POST_LIMIT: Duration = Duration::from_secs(1);
/// A post that is sent later than this after it was due is late, and so is one that takes longer
/// than [`POST_LIMIT`].
pub const LATE_AFTER: Duration = Duration::from_secs(1);

/// Why a frame did not reach a connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// The connection is closed and can be deleted.
    #[error("the connection is gone")]
    Gone,
    /// The connection may work again later. The client notices what it missed by `seq` and
    /// snapshots.
    #[error("the frame was not sent: {0}")]
    Failed(String),
}

/// Why the server closes a connection: the close codes of RFC 6455 and its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseCode {
    /// Nothing more is to be said.
    Normal = 1000,
    /// The connection's credential has expired or was removed.
    Policy = 1008,
    /// The client sent a frame that is longer than the host reads, or no WebSocket frame.
    TooLong = 1009,
    /// The server restarts. The client may connect again at once.
    Restarting = 1012,
    /// The client sends too much, or does not read what it is sent.
    TooMany = 1013,
}

/// Sends frames to connections. Each call is for one connection, so that no connection waits for
/// another.
#[async_trait]
pub trait Sockets: Send + Sync {
    /// The permits of the posts of this process.
    fn post_permits(&self) -> &PostPermits;
    /// Posts one frame, a JSON text.
    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError>;
    /// Closes a connection. A host that can't send close codes closes it without one.
    async fn close(&self, connection: &ConnectionId, code: CloseCode);
    /// Whether a connection is open, as far as the host knows.
    async fn is_open(&self, connection: &ConnectionId) -> bool;
}

/// Posts within [`POST_LIMIT`]. The time limit begins when the post gets a permit, so that posts in
/// a crowd do not fail while they wait. `due` is when the frame should have been sent.
pub async fn post_in_time(
    sockets: &dyn Sockets,
    connection: &ConnectionId,
    frame: Arc<str>,
    due: Instant,
) -> Result<(), PostError> {
    let permits = sockets.post_permits();
    let _permit = permits.take().await;
    let is_late = due.elapsed() > LATE_AFTER;
    let posted = tokio::time::timeout(POST_LIMIT, sockets.post(connection, frame)).await;
    if is_late || posted.is_err() {
        permits.count_late();
    }
    posted.unwrap_or_else(|_| Err(PostError::Failed("it took longer than a second".into())))
}

#[cfg(feature = "aws")]
pub use api_gateway::ApiGatewaySockets;

#[cfg(feature = "aws")]
mod api_gateway {
    use aws_sdk_apigatewaymanagement::{
        Client,
        error::DisplayErrorContext,
        operation::{
            get_connection::GetConnectionError, post_to_connection::PostToConnectionError,
        },
        primitives::Blob,
    };

    use super::{Arc, CloseCode, ConnectionId, PostError, PostPermits, Sockets, async_trait};

    /// The connections of a WebSocket API of API Gateway.
    #[derive(Clone, Debug)]
    pub struct ApiGatewaySockets {
        client: Client,
        post_permits: PostPermits,
    }

    impl ApiGatewaySockets {
        /// `client` must use the API's `@connections` endpoint.
        pub fn new(client: Client) -> Self {
            Self { client, post_permits: PostPermits::default() }
        }
    }

    #[async_trait]
    impl Sockets for ApiGatewaySockets {
        fn post_permits(&self) -> &PostPermits {
            &self.post_permits
        }

        async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
            let post = self
                .client
                .post_to_connection()
                .connection_id(&connection.0)
                .data(Blob::new(frame.as_bytes()));
            match post.send().await {
                Ok(_) => Ok(()),
                Err(error)
                    if error
                        .as_service_error()
                        .is_some_and(PostToConnectionError::is_gone_exception) =>
                {
                    Err(PostError::Gone)
                }
                Err(error) => Err(PostError::Failed(DisplayErrorContext(error).to_string())),
            }
        }

        async fn close(&self, connection: &ConnectionId, _code: CloseCode) {
            // A connection that can't be closed is closed already, or API Gateway closes it after
            // two hours.
            if let Err(error) =
                self.client.delete_connection().connection_id(&connection.0).send().await
            {
                let error = DisplayErrorContext(error);
                tracing::debug!(%connection, %error, "a connection could not be closed");
            }
        }

        async fn is_open(&self, connection: &ConnectionId) -> bool {
            match self.client.get_connection().connection_id(&connection.0).send().await {
                Ok(_) => true,
                Err(error) => {
                    !error.as_service_error().is_some_and(GetConnectionError::is_gone_exception)
                }
            }
        }
    }
}
