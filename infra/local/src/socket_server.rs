//! `/v1/socket`: the WebSocket server, in place of API Gateway. It passes frames to the function
//! `socket`. Frames for clients come through [`InProcessSockets`].

mod watch;

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::{
        Query, State, WebSocketUpgrade,
        rejection::QueryRejection,
        ws::{CloseFrame, Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::HeaderMap,
    response::{IntoResponse, Response},
    routing::get,
};
use futures::{SinkExt, StreamExt, stream::SplitSink};
use serde::Deserialize;
use smartspace_domain::{Error, Time, ids::ConnectionId};
use smartspace_ports::{
    ids::IdSource,
    sockets::{CloseCode, Sockets},
};
use smartspace_socket::Socket;
use smartspace_web::{Refusal, may_come_from};
use tokio::time::{error::Elapsed, timeout};

use self::watch::{Finding, Watch};
use crate::{
    client_stream::Arrived,
    in_process_sockets::{InProcessSockets, Outgoing, Queued},
    time_limits::TimeLimits,
};

pub(crate) const PATH: &str = "/v1/socket";
/// A larger frame closes the connection. A smaller one beyond the promised 30 KiB gets an error.
const MESSAGE_BYTES: usize = 128 * 1024;

/// The read buffer of a connection. It is small, because thousands of connections may be idle.
const BUFFER_BYTES: usize = 4 * 1024;
/// The greatest number of frames that are written at once.
const FRAMES_AT_ONCE: usize = 32;
/// A client that does not accept a frame within this time is disconnected.
const WRITE_LIMIT: Duration = Duration::from_secs(5);
/// How long a client may take to answer the end of its connection.
const CLOSING_LIMIT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct SocketServer {
    pub(crate) socket: Socket,
    pub(crate) connections: Arc<InProcessSockets>,
    pub(crate) ids: Arc<dyn IdSource>,
    /// Origins whose pages may connect, besides our own.
    pub(crate) origins: Vec<String>,
    pub(crate) limits: TimeLimits,
}

#[derive(Deserialize)]
struct Connect {
    #[serde(default)]
    ticket: String,
}

pub(crate) fn router(server: SocketServer) -> Router {
    Router::new().route(PATH, get(connect)).with_state(server)
}

async fn connect(
    State(server): State<SocketServer>,
    Extension(arrived): Extension<Arrived>,
    headers: HeaderMap,
    query: Result<Query<Connect>, QueryRejection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let (Ok(Query(Connect { ticket })), Ok(upgrade)) = (query, upgrade) else {
        let text = "expected a WebSocket handshake with one ticket";
        return Refusal(Error::Malformed(text.into())).into_response();
    };
    if !may_come_from(&headers, &server.origins) {
        let text = "pages of this origin may not connect; --cors-origin allows them";
        return Refusal(Error::Forbidden(text.into())).into_response();
    }
    let id = ConnectionId(format!("{:032x}", server.ids.random()));
    match server.socket.connect(&ticket, &id).await {
        Ok(until) => upgrade
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(BUFFER_BYTES)
            .max_message_size(MESSAGE_BYTES)
            .on_upgrade(move |socket| serve(server, id, until, arrived, socket)),
        Err(error) => Refusal(error).into_response(),
    }
}

async fn serve(
    server: SocketServer,
    id: ConnectionId,
    until: Time,
    arrived: Arrived,
    socket: WebSocket,
) {
    let outgoing = server.connections.open(id.clone());
    let (writer, mut reader) = socket.split();
    let writing = tokio::spawn(write(outgoing, writer, id.clone()));
    let mut expires = Box::pin(tokio::time::sleep(until.since(server.socket.pipeline.now())));
    let mut expired = false;
    let mut writing = writing;
    let mut watch = Watch::new(server.limits, arrived);
    let code = loop {
        tokio::select! {
            received = reader.next() => match received {
                Some(Ok(Message::Close(_))) | None => break CloseCode::Normal,
                Some(Ok(message)) => {
                    watch.arrived(&message);
                    server.take(&id, message).await;
                }
                // A client that has vanished does not get the code.
                Some(Err(_)) => break CloseCode::TooLong,
            },
            finding = watch.look() => match finding {
                Finding::HalfFrame => {
                    tracing::info!(connection = %id, "a frame that did not arrive was given up");
                    break CloseCode::TooLong;
                }
                Finding::Idle => server.close_if_it_follows_nothing(&id).await,
            },
            () = &mut expires, if !expired => {
                expired = true;
                if let Err(error) = server.socket.expire(&id, None).await {
                    tracing::warn!(
                        connection = %id,
                        %error,
                        "a connection with an expired credential could not be deleted"
                    );
                }
            }
            _ = &mut writing => break CloseCode::Normal,
        }
    };
    server.connections.close(&id, code).await;
    if let Err(error) = server.socket.disconnect(&id).await {
        tracing::warn!(connection = %id, %error, "a connection could not be deleted");
    }
    // Frames that nobody reads would reset the connection, and the client might not learn why it
    // was closed.
    let rest = async { while let Some(Ok(_)) = reader.next().await {} };
    let _ = timeout(CLOSING_LIMIT, rest).await;
}

/// Writes the frames of a connection until it is closed, and then the code.
async fn write(
    mut outgoing: Outgoing,
    mut writer: SplitSink<WebSocket, Message>,
    connection: ConnectionId,
) {
    let mut frames = Vec::new();
    while outgoing.frames.recv_many(&mut frames, FRAMES_AT_ONCE).await > 0 {
        match write_all(&mut writer, frames.drain(..)).await {
            Ok(Ok(())) => {}
            // The connection is gone.
            Ok(Err(_)) => return,
            Err(_) => {
                outgoing.reads_too_slowly(&connection);
                break;
            }
        }
    }
    let close = CloseFrame { code: outgoing.code() as u16, reason: "".into() };
    let _ = timeout(WRITE_LIMIT, writer.send(Message::Close(Some(close)))).await;
}

/// Writes frames together. Each of them has [`WRITE_LIMIT`].
async fn write_all(
    writer: &mut SplitSink<WebSocket, Message>,
    frames: impl Iterator<Item = Queued>,
) -> Result<Result<(), axum::Error>, Elapsed> {
    for queued in frames {
        let message = Message::Text(queued.frame.as_ref().into());
        let fed = timeout(WRITE_LIMIT, writer.feed(message)).await?;
        if fed.is_err() {
            return Ok(fed);
        }
    }
    timeout(WRITE_LIMIT, writer.flush()).await
}

impl SocketServer {
    async fn take(&self, id: &ConnectionId, message: Message) {
        match message {
            Message::Text(frame) => self.receive(id, &frame).await,
            // Binary frames are not supported. An empty text gets the error that says so.
            Message::Binary(_) => self.receive(id, "").await,
            // The library answers it, which costs as much as a frame.
            Message::Ping(_) | Message::Pong(_) => {
                if let Err(error) = self.socket.count_control_frame(id).await {
                    tracing::warn!(connection = %id, %error, "a connection could not be closed");
                }
            }
            Message::Close(_) => {}
        }
    }

    async fn close_if_it_follows_nothing(&self, id: &ConnectionId) {
        if let Err(error) = self.socket.close_if_idle(id).await {
            tracing::warn!(connection = %id, %error, "an idle connection could not be closed");
        }
    }

    async fn receive(&self, id: &ConnectionId, frame: &str) {
        if let Err(error) = self.socket.receive(id, frame).await {
            tracing::error!(connection = %id, %error, "a frame could not be answered");
        }
    }
}
