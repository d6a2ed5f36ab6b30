//! The connections of browsers.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;

/// How long a post to one connection may take.
pub const POST_LIMIT: Duration = Duration::from_secs(1);

/// Why a frame did not reach a connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// It is closed: forget it.
    #[error("the connection is gone")]
    Gone,
    /// It may work again; what was missed is found by `seq` and snapshots.
    #[error("the frame was not taken: {0}")]
    Failed(String),
}

/// Sends frames to connections. Each call is for one connection, so that none waits for another.
#[async_trait]
pub trait Sockets: Send + Sync {
    /// Posts one frame, a JSON text.
    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError>;
    /// Closes a connection.
    async fn close(&self, connection: &ConnectionId);
}

/// Posts within [`POST_LIMIT`].
pub async fn post_in_time(sockets: &dyn Sockets, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
    match tokio::time::timeout(POST_LIMIT, sockets.post(connection, frame)).await {
        Ok(result) => result,
        Err(_) => Err(PostError::Failed("it took longer than a second".into())),
    }
}

#[cfg(feature = "aws")]
pub use api_gateway::ApiGatewaySockets;

#[cfg(feature = "aws")]
mod api_gateway {
    use aws_sdk_apigatewaymanagement::{
        Client, error::DisplayErrorContext, operation::post_to_connection::PostToConnectionError, primitives::Blob,
    };

    use super::{Arc, ConnectionId, PostError, Sockets, async_trait};

    /// The connections of an API Gateway WebSocket API.
    #[derive(Clone, Debug)]
    pub struct ApiGatewaySockets {
        client: Client,
    }

    impl ApiGatewaySockets {
        /// `client` has the API's @connections endpoint.
        pub fn new(client: Client) -> Self {
            Self { client }
        }
    }

    #[async_trait]
    impl Sockets for ApiGatewaySockets {
        async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
            let post = self.client.post_to_connection().connection_id(&connection.0).data(Blob::new(frame.as_bytes()));
            match post.send().await {
                Ok(_) => Ok(()),
                Err(error) if error.as_service_error().is_some_and(PostToConnectionError::is_gone_exception) => Err(PostError::Gone),
                Err(error) => Err(PostError::Failed(DisplayErrorContext(error).to_string())),
            }
        }

        async fn close(&self, connection: &ConnectionId) {
            // What can't be closed is closed already, or will be by its two hours.
            if let Err(error) = self.client.delete_connection().connection_id(&connection.0).send().await {
                tracing::debug!(%connection, error = %DisplayErrorContext(error), "a connection could not be closed");
            }
        }
    }
}
