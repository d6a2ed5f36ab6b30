//! The WebSocket door: a client that keeps every frame and when it came.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use futures::{SinkExt, StreamExt, stream::SplitSink};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::watch, task::JoinHandle, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Error, Message},
};

use super::{
    client::Client,
    view::View,
    waiting::{SOON, patient},
};

/// Stands behind the last frame of a connection that ended.
const CLOSED: &str = "(closed)";
/// No frame is longer, in bytes.
const FRAME_BYTES: usize = 30 * 1024;

type Connection = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A frame of the server.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// When it came.
    pub(crate) at: Instant,
    /// Its `type`.
    pub(crate) kind: String,
    /// All of it.
    pub(crate) body: Value,
}

/// An open connection. A task of its own collects what comes.
pub(crate) struct Socket {
    writer: tokio::sync::Mutex<SplitSink<Connection, Message>>,
    heard: Arc<Heard>,
    reading: JoinHandle<()>,
    last_id: AtomicU64,
}

#[derive(Default)]
struct Heard {
    frames: Mutex<Vec<Frame>>,
    count: watch::Sender<usize>,
    faults: Mutex<Vec<String>>,
}

impl Heard {
    fn hear(&self, text: &str) {
        let at = Instant::now();
        let body: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        match body["type"].as_str() {
            Some(kind) if text.len() <= FRAME_BYTES => self.keep(Frame { at, kind: kind.to_owned(), body }),
            _ => self.faults.lock().unwrap().push(format!("{} bytes, no frame or too long: {text:.200}", text.len())),
        }
    }

    fn keep(&self, frame: Frame) {
        self.frames.lock().unwrap().push(frame);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Client {
    /// A ticket's address, for the operator or as `entity`.
    pub(crate) async fn ticket(&self, entity: Option<&str>) -> String {
        let body = entity.map_or(json!({}), |entity| json!({ "entityId": entity }));
        let made = self.create("/v1/socketTickets", body).await.must_be(201);
        made["url"].as_str().unwrap_or_else(|| panic!("no url in {made}")).to_owned()
    }

    /// A connection of the operator, who may follow every space.
    pub(crate) async fn socket(&self) -> Socket {
        Socket::open(&self.ticket(None).await).await.unwrap()
    }

    /// A connection of a person or an agent.
    pub(crate) async fn socket_of(&self, entity: &str) -> Socket {
        Socket::open(&self.ticket(Some(entity)).await).await.unwrap()
    }
}

impl Socket {
    /// Connects to a ticket's address. The error is the status of a refused handshake.
    pub(crate) async fn open(url: &str) -> Result<Self, u16> {
        Self::try_open(url).await.map_err(|error| match error {
            Error::Http(refused) => refused.status().as_u16(),
            error => panic!("{url}: {error}"),
        })
    }

    /// The same, where the product may be gone.
    pub(crate) async fn try_open(url: &str) -> Result<Self, Error> {
        let (connection, _) = connect_async_with_config(url, None, true).await?;
        let (writer, mut reader) = connection.split();
        let heard = Arc::new(Heard::default());
        let hearing = Arc::clone(&heard);
        let reading = tokio::spawn(async move {
            while let Some(Ok(message)) = reader.next().await {
                if let Message::Text(text) = message {
                    hearing.hear(&text);
                }
            }
            hearing.keep(Frame { at: Instant::now(), kind: CLOSED.into(), body: Value::Null });
        });
        Ok(Self { writer: tokio::sync::Mutex::new(writer), heard, reading, last_id: AtomicU64::new(0) })
    }

    /// Sends anything at all.
    pub(crate) async fn send(&self, message: Message) {
        self.writer.lock().await.send(message).await.unwrap();
    }

    /// Sends a request and gives its answer, found by the id.
    pub(crate) async fn request(&self, request: Value) -> Value {
        let shown = format!("{request:.300}");
        self.try_request(request).await.unwrap_or_else(|| panic!("closed before the answer to {shown}"))
    }

    /// The same; none where the connection ended before the answer came.
    pub(crate) async fn try_request(&self, mut request: Value) -> Option<Value> {
        let id = format!("q{}", self.last_id.fetch_add(1, Ordering::Relaxed));
        request["id"] = id.clone().into();
        let what = format!("the answer to {request:.300}");
        self.writer.lock().await.send(Message::text(request.to_string())).await.ok()?;
        let answer = self.until(&what, SOON, |frames| {
            let answer = frames.iter().find(|frame| frame.body["id"] == id.as_str()).map(|frame| Some(frame.body.clone()));
            answer.or_else(|| frames.last().filter(|last| last.kind == CLOSED).map(|_| None))
        });
        answer.await
    }

    /// Follows a space and gives the answer.
    pub(crate) async fn subscribe(&self, space: &str, after_seq: Option<u64>) -> Value {
        let mut request = json!({ "action": "subscribe", "spaceId": space });
        if let Some(after) = after_seq {
            request["afterSeq"] = after.into();
        }
        let answer = self.request(request).await;
        assert_eq!(answer["type"], "subscribed", "{answer}");
        assert_eq!(answer["spaceId"], space, "{answer}");
        answer
    }

    /// Whether it is open and answers.
    pub(crate) async fn is_open(&self) -> bool {
        self.request(json!({ "action": "ping" })).await["type"] == "pong"
    }

    /// Everything that came so far.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        self.heard.frames.lock().unwrap().clone()
    }

    /// What a browser would show of a space by now.
    pub(crate) fn view(&self, space: &str) -> View {
        View::of(&self.frames(), space)
    }

    /// Waits until `look` finds something in what came.
    pub(crate) async fn until<T>(&self, what: &str, limit: Duration, look: impl Fn(&[Frame]) -> Option<T>) -> T {
        let mut count = self.heard.count.subscribe();
        let search = async {
            loop {
                count.borrow_and_update();
                if let Some(found) = look(&self.heard.frames.lock().unwrap()) {
                    return found;
                }
                // The sender lives as long as `self`.
                let _ = count.changed().await;
            }
        };
        let limit = patient(limit);
        let found = timeout(limit, search).await;
        found.unwrap_or_else(|_| {
            let frames: Vec<String> = self.frames().iter().map(|frame| format!("{:.300}", frame.body)).collect();
            let faults = self.heard.faults.lock().unwrap().clone();
            panic!("not within {limit:?}: {what}\nframes: {frames:#?}\nfaults: {faults:?}")
        })
    }

    /// Waits for the first frame of a kind that fits.
    pub(crate) async fn frame(&self, kind: &str, limit: Duration, fits: impl Fn(&Value) -> bool) -> Frame {
        self.until(&format!("a fitting {kind}"), limit, |frames| {
            frames.iter().find(|frame| frame.kind == kind && fits(&frame.body)).cloned()
        })
        .await
    }

    /// Waits until a browser would show what `look` finds.
    pub(crate) async fn shows<T>(&self, space: &str, what: &str, limit: Duration, look: impl Fn(&View) -> Option<T>) -> T {
        self.until(what, limit, |frames| look(&View::of(frames, space))).await
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.reading.abort();
        let faults = self.heard.faults.lock().unwrap();
        assert!(faults.is_empty() || thread::panicking(), "{faults:#?}");
    }
}
