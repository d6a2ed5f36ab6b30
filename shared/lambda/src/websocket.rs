//! API Gateway's WebSocket events, and how they are answered.

use aws_lambda_events::event::apigw::ApiGatewayWebsocketProxyRequest;
use futures::FutureExt;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};
use smartspace_domain::{ids::ConnectionId, problems::Problem};

/// What happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketEvent {
    /// A browser connects, with this ticket.
    Connect {
        /// The ticket; may be empty.
        ticket: String,
    },
    /// A frame came.
    Frame {
        /// Its text.
        text: String,
    },
    /// It is closed.
    Disconnect,
}

/// Serves a WebSocket API for ever.
pub async fn serve<F, Fut>(handle: F) -> Result<(), Error>
where
    F: Fn(ConnectionId, SocketEvent) -> Fut + Send + Sync,
    Fut: Future<Output = smartspace_domain::Result<()>> + Send,
{
    let handle = &handle;
    lambda_runtime::run(service_fn(async move |event: LambdaEvent<ApiGatewayWebsocketProxyRequest>| {
        let (id, event) = read(event.payload);
        // Boxed without its type: the compiler lays out only so deep a future.
        Ok::<Value, Error>(match handle(id, event).boxed().await {
            Ok(()) => json!({"statusCode": 200}),
            Err(error) => {
                tracing::warn!(event = "socket_refused", %error, "a socket event was refused");
                json!({"statusCode": Problem::of(&error).status})
            }
        })
    }))
    .await
}

fn read(request: ApiGatewayWebsocketProxyRequest) -> (ConnectionId, SocketEvent) {
    let context = request.request_context;
    let event = match context.event_type.as_deref() {
        Some("CONNECT") => SocketEvent::Connect { ticket: request.query_string_parameters.first("ticket").unwrap_or_default().to_owned() },
        Some("DISCONNECT") => SocketEvent::Disconnect,
        _ => SocketEvent::Frame { text: request.body.unwrap_or_default() },
    };
    (ConnectionId(context.connection_id.unwrap_or_default()), event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_events_are_read() {
        let id = ConnectionId("L0SM9cOFvHcCIhw=".into());
        let samples = [
            (
                include_str!("../../../events/websocket-connect.json"),
                SocketEvent::Connect { ticket: "tkt_01M7XDR3CMBCB1KEN4SY5W6Q5B".into() },
            ),
            (include_str!("../../../events/websocket-message.json"), SocketEvent::Frame { text: "{\"action\":\"ping\"}".into() }),
            (include_str!("../../../events/websocket-disconnect.json"), SocketEvent::Disconnect),
        ];
        for (text, expected) in samples {
            assert_eq!(read(serde_json::from_str(text).unwrap()), (id.clone(), expected));
        }
    }
}
