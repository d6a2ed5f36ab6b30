//! Follows a space over the WebSocket API, as a browser does.

use std::{collections::VecDeque, time::Duration};

use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{events::Event, ids::SpaceId};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message},
};

use crate::api_client::{Refusal, Visitor};

/// How long it may take until a space is followed.
const OPEN_LIMIT: Duration = Duration::from_secs(15);

/// A connection that follows one space.
#[derive(Debug)]
pub(crate) struct Following {
    /// Boxed, because with TLS it is large.
    socket: Box<WebSocketStream<MaybeTlsStream<TcpStream>>>,
    /// Events that came before the answer to `subscribe`.
    early: VecDeque<Event>,
}

#[derive(Debug, Deserialize)]
struct Ticket {
    url: String,
}

/// A frame, as far as it concerns a follower.
enum Frame {
    Event(Box<Event>),
    Subscribed,
    Refused(Refusal),
    /// An event that this version does not know.
    Other,
}

impl Following {
    /// Follows `space`. The messages over `after` come first.
    pub(crate) async fn open(
        visitor: &Visitor,
        space: SpaceId,
        after: Option<u64>,
    ) -> Result<Self, Refusal> {
        Self::open_within(OPEN_LIMIT, visitor, space, after).await
    }

    async fn open_within(
        limit: Duration,
        visitor: &Visitor,
        space: SpaceId,
        after: Option<u64>,
    ) -> Result<Self, Refusal> {
        let opening = Box::pin(Self::connect(visitor, space, after));
        timeout(limit, opening).await.unwrap_or_else(|_| {
            Err(Refusal::new(503, "the space could not be followed in time; try again"))
        })
    }

    async fn connect(
        visitor: &Visitor,
        space: SpaceId,
        after: Option<u64>,
    ) -> Result<Self, Refusal> {
        let ticket: Ticket =
            visitor.post("/v1/socketTickets", &json!({"door": true}), None).await?;
        let connected = Box::pin(connect_async(ticket.url)).await;
        let (socket, _) = connected.map_err(|error| broken(&error))?;
        let mut following = Self { socket: Box::new(socket), early: VecDeque::new() };
        let request = json!({"action": "subscribe", "spaceId": space, "afterSeq": after});
        let request = Message::text(request.to_string());
        following.socket.send(request).await.map_err(|error| broken(&error))?;
        loop {
            match following.frame().await? {
                Frame::Subscribed => return Ok(following),
                Frame::Refused(refusal) => return Err(refusal),
                Frame::Event(event) => following.early.push_back(*event),
                Frame::Other => {}
            }
        }
    }

    /// Keeps the connection open, which closes when it is silent for long.
    pub(crate) async fn ping(&mut self) {
        // A broken connection shows when it is read.
        let _ = self.socket.send(Message::text(json!({"action": "ping"}).to_string())).await;
    }

    /// The next event. Fails once the connection has ended.
    pub(crate) async fn next(&mut self) -> Result<Event, Refusal> {
        if let Some(event) = self.early.pop_front() {
            return Ok(event);
        }
        loop {
            match self.frame().await? {
                Frame::Event(event) => return Ok(*event),
                Frame::Refused(refusal) => return Err(refusal),
                Frame::Subscribed | Frame::Other => {}
            }
        }
    }

    async fn frame(&mut self) -> Result<Frame, Refusal> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(frame(&text)),
                Some(Ok(Message::Close(_))) | None => {
                    let detail = "the connection to the space has ended; call this again";
                    return Err(Refusal::new(503, detail));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(broken(&error)),
            }
        }
    }
}

fn frame(text: &str) -> Frame {
    let Ok(frame) = serde_json::from_str::<Value>(text) else { return Frame::Other };
    match frame["type"].as_str() {
        Some("subscribed") => Frame::Subscribed,
        Some("error") => {
            let status = frame["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let detail = frame["detail"].as_str().unwrap_or_default();
            let retry_after = frame["retryAfter"].as_u64();
            Frame::Refused(Refusal { retry_after, ..Refusal::new(status.unwrap_or(500), detail) })
        }
        // Nothing more is to be said: it is no use to connect again.
        Some("goodbye") if frame["code"] == 1000 => {
            Frame::Refused(Refusal::new(409, frame["reason"].as_str().unwrap_or_default()))
        }
        Some("unsubscribed" | "space.deleted") => {
            let detail = "the space is gone, or you are not in it any more";
            Frame::Refused(Refusal::new(404, detail))
        }
        // API Gateway itself refuses a frame without our words.
        None if frame["message"].is_string() => {
            Frame::Refused(Refusal::new(503, "the space cannot be followed now; try again"))
        }
        _ => serde_json::from_value(frame)
            .map_or(Frame::Other, |event| Frame::Event(Box::new(event))),
    }
}

fn broken(error: &tungstenite::Error) -> Refusal {
    tracing::warn!(%error, "a door lost its connection");
    Refusal::new(503, "the connection to the space broke; call this again")
}

#[cfg(test)]
mod tests {
    use axum::{
        Json, Router,
        extract::{State, WebSocketUpgrade, ws},
        http::HeaderMap,
        routing::{any, post},
    };
    use tokio::net::TcpListener;

    use super::*;
    use crate::api_client::OurApi;

    /// An API whose WebSocket answers each frame with this text, or not at all.
    async fn api(answer: Option<&'static str>) -> Visitor {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let talk = move |mut socket: ws::WebSocket| async move {
            while let Some(Ok(ws::Message::Text(_))) = socket.next().await {
                if let Some(answer) = answer {
                    socket.send(ws::Message::text(answer)).await.unwrap();
                }
            }
        };
        let ticket = async |State(url): State<String>| Json(json!({"url": url}));
        let router = Router::new()
            .route("/v1/socketTickets", post(ticket))
            .route("/", any(async move |upgrade: WebSocketUpgrade| upgrade.on_upgrade(talk)))
            .with_state(format!("ws://{address}/"));
        tokio::spawn(async { axum::serve(listener, router).await });
        OurApi::new(format!("http://{address}")).visitor(&HeaderMap::new())
    }

    async fn followed(answer: Option<&'static str>) -> Result<(), u16> {
        let visitor = api(answer).await;
        let space = "spc_01KHRMMJH0000000000000000H".parse().unwrap();
        let limit = Duration::from_millis(if answer.is_some() { 20_000 } else { 100 });
        let opened = Following::open_within(limit, &visitor, space, None).await;
        opened.map(drop).map_err(|refusal| refusal.status)
    }

    #[tokio::test]
    async fn a_space_is_followed_in_time_or_not_at_all() {
        assert_eq!(followed(Some(r#"{"type": "subscribed"}"#)).await, Ok(()));
        assert_eq!(followed(None).await, Err(503));
        // What API Gateway says if the function fails or is throttled.
        let refused =
            r#"{"message": "Internal server error", "connectionId": "a", "requestId": "b"}"#;
        assert_eq!(followed(Some(refused)).await, Err(503));
        let refused = r#"{"type": "error", "status": 429, "detail": "too many", "retryAfter": 5}"#;
        assert_eq!(followed(Some(refused)).await, Err(429));
        let replaced = r#"{"type": "goodbye", "code": 1000, "reason": "a newer call follows"}"#;
        assert_eq!(followed(Some(replaced)).await, Err(409));
    }

    #[cfg(feature = "lambda")]
    #[tokio::test]
    async fn an_address_with_wss_is_called_with_tls() {
        use tokio::io::AsyncReadExt;

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("wss://{}", listener.local_addr().unwrap());
        let calling = tokio::spawn(async move { Box::pin(connect_async(url)).await.map(drop) });
        let (mut called, _) = listener.accept().await.unwrap();
        // A handshake of TLS: https://www.rfc-editor.org/rfc/rfc8446#section-5.1
        assert_eq!(called.read_u8().await.unwrap(), 22);
        drop(called);
        assert!(calling.await.unwrap().is_err());
    }
}
