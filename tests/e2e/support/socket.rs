//! A WebSocket client that records each frame and the time of its arrival.

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

use crate::support::{
    client::Client,
    view::View,
    waiting::{SOON, patient},
};

/// The kind of a final pseudo frame that marks the end of a connection. Its body is the close code.
const CLOSED: &str = "(closed)";
/// The longest frame that the product may send, in bytes.
const FRAME_BYTES: usize = 30 * 1024;

type Connection = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A frame that the product sent.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) at: Instant,
    pub(crate) kind: String,
    pub(crate) body: Value,
}

/// A connection. A separate task collects the frames.
pub(crate) struct Socket {
    writer: tokio::sync::Mutex<SplitSink<Connection, Message>>,
    received: Arc<Received>,
    reading: JoinHandle<()>,
    last_id: AtomicU64,
}

#[derive(Default)]
struct Received {
    frames: Mutex<Vec<Frame>>,
    count: watch::Sender<usize>,
    faults: Mutex<Vec<String>>,
}

impl Received {
    fn receive(&self, text: &str) {
        let at = Instant::now();
        let body: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        match body["type"].as_str() {
            Some(kind) if text.len() <= FRAME_BYTES => {
                self.push(Frame { at, kind: kind.to_owned(), body });
            }
            _ => self
                .faults
                .lock()
                .unwrap()
                .push(format!("not a frame, or too long ({} bytes): {text:.200}", text.len())),
        }
    }

    fn push(&self, frame: Frame) {
        self.frames.lock().unwrap().push(frame);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Client {
    /// A URL with a ticket, for `entity` or for the caller itself.
    pub(crate) async fn ticket(&self, entity: Option<&str>) -> String {
        let body = entity.map_or(json!({}), |entity| json!({ "entityId": entity }));
        let made = self.create("/v1/socketTickets", body).await.must_be(201);
        made["url"].as_str().unwrap_or_else(|| panic!("no url in {made}")).to_owned()
    }

    /// A connection of the caller. The operator may follow every space.
    pub(crate) async fn socket(&self) -> Socket {
        Socket::open(&self.ticket(None).await).await.unwrap()
    }

    /// A connection of a person or an agent.
    pub(crate) async fn socket_of(&self, entity: &str) -> Socket {
        Socket::open(&self.ticket(Some(entity)).await).await.unwrap()
    }
}

impl Socket {
    /// Connects to a URL with a ticket. The error is the status of a refused handshake.
    pub(crate) async fn open(url: &str) -> Result<Self, u16> {
        Self::try_open(url).await.map_err(|error| match error {
            Error::Http(refused) => refused.status().as_u16(),
            error => panic!("{url}: {error}"),
        })
    }

    /// Like [`Self::open`], for tests that kill the product.
    pub(crate) async fn try_open(url: &str) -> Result<Self, Error> {
        let (connection, _) = connect_async_with_config(url, None, true).await?;
        let (writer, mut reader) = connection.split();
        let received = Arc::new(Received::default());
        let receiving = Arc::clone(&received);
        let reading = tokio::spawn(async move {
            let mut code = Value::Null;
            while let Some(Ok(message)) = reader.next().await {
                match message {
                    Message::Text(text) => receiving.receive(&text),
                    Message::Close(Some(close)) => code = u16::from(close.code).into(),
                    _ => {}
                }
            }
            receiving.push(Frame { at: Instant::now(), kind: CLOSED.into(), body: code });
        });
        Ok(Self {
            writer: tokio::sync::Mutex::new(writer),
            received,
            reading,
            last_id: AtomicU64::new(0),
        })
    }

    /// Sends a raw message.
    pub(crate) async fn send(&self, message: Message) {
        self.try_send(message).await.unwrap();
    }

    /// Like [`Self::send`]. Fails if the connection has ended.
    pub(crate) async fn try_send(&self, message: Message) -> Result<(), Error> {
        self.writer.lock().await.send(message).await
    }

    /// Sends a request. Returns the frame that answers it, found by its `id`.
    pub(crate) async fn request(&self, request: Value) -> Value {
        let shown = format!("{request:.300}");
        self.try_request(request)
            .await
            .unwrap_or_else(|| panic!("the connection closed before the answer to {shown}"))
    }

    /// Like [`Self::request`]. Returns `None` if the connection ends before the answer.
    pub(crate) async fn try_request(&self, mut request: Value) -> Option<Value> {
        let id = format!("q{}", self.last_id.fetch_add(1, Ordering::Relaxed));
        request["id"] = id.clone().into();
        let what = format!("the answer to {request:.300}");
        self.writer.lock().await.send(Message::text(request.to_string())).await.ok()?;
        let answer = self.until(&what, SOON, |frames| {
            let answer = frames
                .iter()
                .find(|frame| frame.body["id"] == id.as_str())
                .map(|frame| Some(frame.body.clone()));
            answer.or_else(|| frames.last().filter(|last| last.kind == CLOSED).map(|_| None))
        });
        answer.await
    }

    /// Subscribes to a space. Returns the answer.
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

    /// Waits for the end of the connection. Returns the goodbye and the close code, null for none.
    pub(crate) async fn farewell(&self) -> (Value, Value) {
        let code = self.frame(CLOSED, SOON, |_| true).await.body;
        let goodbye = self.frames().into_iter().find(|frame| frame.kind == "goodbye");
        (goodbye.map_or(Value::Null, |frame| frame.body), code)
    }

    /// Whether the connection answers a ping.
    pub(crate) async fn is_open(&self) -> bool {
        self.request(json!({ "action": "ping" })).await["type"] == "pong"
    }

    pub(crate) fn frames(&self) -> Vec<Frame> {
        self.received.frames.lock().unwrap().clone()
    }

    /// The current view of a space, as a browser would show it.
    pub(crate) fn view(&self, space: &str) -> View {
        View::of(&self.frames(), space)
    }

    /// Waits until `look` finds something in the frames.
    pub(crate) async fn until<T>(
        &self,
        what: &str,
        limit: Duration,
        look: impl Fn(&[Frame]) -> Option<T>,
    ) -> T {
        let mut count = self.received.count.subscribe();
        let search = async {
            loop {
                count.borrow_and_update();
                if let Some(found) = look(&self.received.frames.lock().unwrap()) {
                    return found;
                }
                // Cannot fail: the sender lives as long as `self`.
                let _ = count.changed().await;
            }
        };
        let limit = patient(limit);
        let found = timeout(limit, search).await;
        found.unwrap_or_else(|_| {
            let frames: Vec<String> =
                self.frames().iter().map(|frame| format!("{:.300}", frame.body)).collect();
            let faults = self.received.faults.lock().unwrap().clone();
            panic!("not within {limit:?}: {what}\nframes: {frames:#?}\nfaults: {faults:?}")
        })
    }

    /// Waits for the first frame of a kind that `fits`.
    pub(crate) async fn frame(
        &self,
        kind: &str,
        limit: Duration,
        fits: impl Fn(&Value) -> bool,
    ) -> Frame {
        self.until(&format!("a matching {kind} frame"), limit, |frames| {
            frames.iter().find(|frame| frame.kind == kind && fits(&frame.body)).cloned()
        })
        .await
    }

    /// Waits until `look` finds something in the view of a space.
    pub(crate) async fn shows<T>(
        &self,
        space: &str,
        what: &str,
        limit: Duration,
        look: impl Fn(&View) -> Option<T>,
    ) -> T {
        self.until(what, limit, |frames| look(&View::of(frames, space))).await
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.reading.abort();
        let faults = self.received.faults.lock().unwrap();
        assert!(faults.is_empty() || thread::panicking(), "{faults:#?}");
    }
}
