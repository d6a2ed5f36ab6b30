//! WebSocket events of API Gateway and their responses.

use std::sync::Arc;

use aws_lambda_events::event::apigw::ApiGatewayWebsocketProxyRequest;
use futures::FutureExt;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};
use smartspace_domain::ids::ConnectionId;
use smartspace_domain::problems::Problem;
use smartspace_ports::trace::{self, TraceParent};
use tracing::Instrument;

use crate::invocation::{self, Gateway};

/// An event of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketEvent {
    /// A client connects with a ticket.
    Connect {
        ticket: String,
    },
    Frame {
        text: String,
    },
    Disconnect,
}

/// Serves a WebSocket API forever.
pub async fn serve<F, Fut>(handle: F) -> Result<(), Error>
where
    F: Fn(ConnectionId, SocketEvent) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = smartspace_domain::Result<()>> + Send,
{
    let handle = Arc::new(handle);
    lambda_runtime::run_concurrent(service_fn(
        move |event: LambdaEvent<ApiGatewayWebsocketProxyRequest>| {
            let handle = Arc::clone(&handle);
            let LambdaEvent { payload, context } = event;
            let known = &payload.request_context;
            let invocation = invocation::span(
                &context,
                Gateway {
                    request_id: known.request_id.as_deref(),
                    source: known.identity.source_ip.as_deref(),
                },
            );
            let work = async move {
                let (id, event) = read(payload);
                let is_connect = matches!(event, SocketEvent::Connect { .. });
                let trace = TraceParent::begin();
                let span =
                    tracing::info_span!("socket", connection = %id, trace_id = trace.trace_id());
                // Boxed, because the type of the future would exceed the compiler's depth limit.
                let done =
                    trace::within(trace, handle(id, event).boxed()).instrument(span.clone()).await;
                Ok::<Value, Error>(match done {
                    Ok(()) if is_connect => {
                        span.in_scope(|| {
                            tracing::info!(event = "connected", "a client has connected");
                        });
                        json!({"statusCode": 200})
                    }
                    Ok(()) => json!({"statusCode": 200}),
                    Err(error) => span.in_scope(|| refused(&error)),
                })
            };
            work.instrument(invocation)
        },
    ))
    .await
}

fn refused(error: &smartspace_domain::Error) -> Value {
    let status = Problem::of(error).status;
    if status >= 500 {
        tracing::error!(event = "socket_failed", %error, "a socket event failed");
    } else {
        tracing::info!(event = "socket_refused", %error, "a socket event was refused");
    }
    json!({"statusCode": status})
}

fn read(request: ApiGatewayWebsocketProxyRequest) -> (ConnectionId, SocketEvent) {
    let context = request.request_context;
    let event = match context.event_type.as_deref() {
        Some("CONNECT") => SocketEvent::Connect {
            ticket: request.query_string_parameters.first("ticket").unwrap_or_default().to_owned(),
        },
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
                include_str!("../../../events/socket/connect.json"),
                SocketEvent::Connect { ticket: "tkt_01KHRMMJH000000000000000TK".into() },
            ),
            (
                include_str!("../../../events/socket/ping.json"),
                SocketEvent::Frame {
                    text:
                        r#"{"id":5,"action":"ping","spaces":{"spc_01KHRMMJH0000000000000000H":1}}"#
                            .into(),
                },
            ),
            (include_str!("../../../events/socket/disconnect.json"), SocketEvent::Disconnect),
        ];
        for (text, expected) in samples {
            assert_eq!(read(serde_json::from_str(text).unwrap()), (id.clone(), expected));
        }
    }
}
