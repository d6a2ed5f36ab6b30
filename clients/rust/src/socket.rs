//! A subscription to one space over the WebSocket API.

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

use crate::{Refusal, Session};

/// Time limit of opening a subscription.
const OPEN_TIMEOUT: Duration = Duration::from_secs(15);

/// A WebSocket connection that receives the events of one space.
///
/// Events can be lost and can come in any order, so a subscriber that must miss nothing reads the
/// space over HTTP from time to time.
#[derive(Debug)]
pub struct Subscription {
    /// Boxed, because with TLS it is large.
    socket: Box<WebSocketStream<MaybeTlsStream<TcpStream>>>,
    /// Events that came before the answer to `subscribe`.
    early: VecDeque<Event>,
}

/// Options of a [`Subscription`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SubscriptionOptions {
    /// The messages after this `seq` are replayed before the live events.
    pub after_seq: Option<u64>,
    /// Whether the connection serves a client of another protocol. An entity has fewer of these,
    /// and the oldest one in the space closes when there are too many.
    pub protocol: bool,
}

#[derive(Debug, Deserialize)]
struct Ticket {
    url: String,
}

/// A frame, as far as a subscriber needs it.
enum Frame {
    Event(Box<Event>),
    Subscribed,
    Refused(Refusal),
    /// A frame of a type that this version does not know.
    Other,
}

impl Subscription {
    /// Subscribes to `space`. When this returns, the API has confirmed the subscription: every
    /// later event of the space is sent to it.
    pub async fn open(
        session: &Session,
        space: SpaceId,
        options: SubscriptionOptions,
    ) -> Result<Self, Refusal> {
        Self::open_within(OPEN_TIMEOUT, session, space, options).await
    }

    async fn open_within(
        limit: Duration,
        session: &Session,
        space: SpaceId,
        options: SubscriptionOptions,
    ) -> Result<Self, Refusal> {
        // The answer to `subscribe` is a frame, and frames can be lost: without a limit this could
        // wait forever.
        let opening = Box::pin(Self::connect(session, space, options));
        timeout(limit, opening).await.unwrap_or_else(|_| {
            Err(Refusal::new(503, "the space could not be followed in time; try again"))
        })
    }

    async fn connect(
        session: &Session,
        space: SpaceId,
        options: SubscriptionOptions,
    ) -> Result<Self, Refusal> {
        let SubscriptionOptions { after_seq, protocol } = options;
        let body = json!({"protocol": protocol});
        let ticket: Ticket = session.post("/v1/socketTickets", &body, None).await?;
        let connected = Box::pin(connect_async(session.own_address(&ticket.url))).await;
        let (socket, _) = connected.map_err(|error| broken(&error))?;
        let mut subscription = Self { socket: Box::new(socket), early: VecDeque::new() };
        let request = json!({"action": "subscribe", "spaceId": space, "afterSeq": after_seq});
        let request = Message::text(request.to_string());
        subscription.socket.send(request).await.map_err(|error| broken(&error))?;
        loop {
            match subscription.frame().await? {
                Frame::Subscribed => return Ok(subscription),
                Frame::Refused(refusal) => return Err(refusal),
                // The subscription is stored before `subscribed` is sent, so an event of another
                // process can overtake that frame. It must not be lost: nothing sends it again.
                Frame::Event(event) => subscription.early.push_back(*event),
                Frame::Other => {}
            }
        }
    }

    /// Sends a frame so that the connection is not closed for silence. API Gateway closes one after
    /// ten minutes.
    pub async fn ping(&mut self) {
        // If the connection is broken, the next read fails and says why.
        let _ = self.socket.send(Message::text(json!({"action": "ping"}).to_string())).await;
    }

    /// Waits for the next event. Fails when the connection has ended: with status 503 it may be
    /// opened again, with any other status that is of no use.
    pub async fn next(&mut self) -> Result<Event, Refusal> {
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
                Some(Ok(Message::Text(text))) => return Ok(parse_frame(&text)),
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

fn parse_frame(text: &str) -> Frame {
    let Ok(frame) = serde_json::from_str::<Value>(text) else { return Frame::Other };
    match frame["type"].as_str() {
        Some("subscribed") => Frame::Subscribed,
        Some("error") => {
            let status = frame["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let detail = frame["detail"].as_str().unwrap_or_default();
            let retry_after = frame["retryAfter"].as_u64();
            Frame::Refused(Refusal { retry_after, ..Refusal::new(status.unwrap_or(500), detail) })
        }
        // A newer connection has replaced this one. To open it again would replace the newer one,
        // and the two would go on to close each other. So this is 409, which callers do not retry.
        Some("goodbye") if frame["code"] == 1000 => {
            Frame::Refused(Refusal::new(409, frame["reason"].as_str().unwrap_or_default()))
        }
        Some("unsubscribed" | "space.deleted") => {
            let detail = "the space is gone, or you are no longer a member of it";
            Frame::Refused(Refusal::new(404, detail))
        }
        // API Gateway itself answers with a `message` if the function fails or is throttled.
        None if frame["message"].is_string() => {
            Frame::Refused(Refusal::new(503, "the space cannot be followed now; try again"))
        }
        _ => serde_json::from_value(frame)
            .map_or(Frame::Other, |event| Frame::Event(Box::new(event))),
    }
}

fn broken(error: &tungstenite::Error) -> Refusal {
    tracing::warn!(%error, "the connection to a space broke");
    Refusal::new(503, "the connection to the space broke; call this again")
}

#[cfg(test)]
mod tests {
    use axum::{
        Json, Router,
        extract::{State, WebSocketUpgrade, ws},
        routing::{any, post},
    };
    use tokio::net::TcpListener;

    use super::*;
    use crate::Client;

    /// An API whose WebSocket answers each frame with this text, or not at all.
    async fn api(answer: Option<&'static str>) -> Session {
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
        Client::new(format!("http://{address}")).session("token").unwrap()
    }

    async fn subscribed(answer: Option<&'static str>) -> Result<(), u16> {
        let session = api(answer).await;
        let space = "spc_01KHRMMJH0000000000000000H".parse().unwrap();
        let limit = Duration::from_millis(if answer.is_some() { 20_000 } else { 100 });
        let options = SubscriptionOptions::default();
        let opened = Subscription::open_within(limit, &session, space, options).await;
        opened.map(drop).map_err(|refusal| refusal.status)
    }

    #[tokio::test]
    async fn a_subscription_opens_in_time_or_fails() {
        assert_eq!(subscribed(Some(r#"{"type": "subscribed"}"#)).await, Ok(()));
        assert_eq!(subscribed(None).await, Err(503));
        // API Gateway's answer if the function fails or is throttled.
        let refused =
            r#"{"message": "Internal server error", "connectionId": "a", "requestId": "b"}"#;
        assert_eq!(subscribed(Some(refused)).await, Err(503));
        let refused = r#"{"type": "error", "status": 429, "detail": "too many", "retryAfter": 5}"#;
        assert_eq!(subscribed(Some(refused)).await, Err(429));
        let replaced = r#"{"type": "goodbye", "code": 1000, "reason": "a newer call follows"}"#;
        assert_eq!(subscribed(Some(replaced)).await, Err(409));
    }

    #[cfg(feature = "tls")]
    #[tokio::test]
    async fn an_address_with_wss_is_called_with_tls() {
        use tokio::io::AsyncReadExt;

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("wss://{}", listener.local_addr().unwrap());
        let calling = tokio::spawn(async move { Box::pin(connect_async(url)).await.map(drop) });
        let (mut called, _) = listener.accept().await.unwrap();
        // A TLS handshake: https://www.rfc-editor.org/rfc/rfc8446#section-5.1
        assert_eq!(called.read_u8().await.unwrap(), 22);
        drop(called);
        assert!(calling.await.unwrap().is_err());
    }
}
