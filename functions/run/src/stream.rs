//! A live stream: the text of one `send_message` call while the model writes it, posted straight to who follows the space.
//!
//! A stream is a task of its own, and so is each connection in it: a slow one holds up neither the run nor the others. Nothing is stored.
//! The snapshot is a key frame: whoever joins in the middle, or lost a frame, is complete again within a second.

use std::{collections::HashMap, sync::Arc, time::Duration};

use smartspace_domain::{
    Error, Result, Time,
    events::{Event, Happening, StreamEnd, StreamKind},
    ids::{CallId, ConnectionId, EntityId, MessageId, RunId, SpaceId, StreamId},
    limits::STREAM_BYTES,
    messages::Sender,
};
use smartspace_edges::{
    clock::Clock,
    sockets::{PostError, Sockets, post_in_time},
};
use smartspace_store::{Store, connections::Audience};
use tokio::{
    sync::mpsc,
    task::{JoinHandle, JoinSet},
    time::{Instant, sleep_until},
};

/// Deltas are joined for so long, and longer where many listen.
const JOINED: Duration = Duration::from_millis(50);
/// What each connection adds to it.
const JOINED_EACH: Duration = Duration::from_millis(2);
/// How often who follows is read again, and a snapshot sent: below the second that is promised.
const SNAPSHOT: Duration = Duration::from_millis(800);
/// For so long who is a member is not asked again: a first word that comes at once waits for nothing.
const CHECKED: Duration = Duration::from_millis(10);
/// Bytes of text in a snapshot's frame; escaping may make them more, the rest goes into a second frame.
const SNAPSHOT_BYTES: usize = 14 * 1024;

/// What streams need of the outside.
#[derive(Clone)]
pub(crate) struct Air {
    pub(crate) store: Store,
    pub(crate) sockets: Arc<dyn Sockets>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Which stream it is.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) space: SpaceId,
    pub(crate) stream: StreamId,
    pub(crate) run: RunId,
    pub(crate) call: CallId,
    pub(crate) attempt: u32,
    pub(crate) agent: EntityId,
}

/// Who follows the space, read while the model is being asked.
pub(crate) type Expected = JoinHandle<Result<(Audience, Instant)>>;

/// Begins to read who follows a space.
pub(crate) fn expect_audience(air: &Air, space: SpaceId) -> Expected {
    let (store, now) = (air.store.clone(), air.clock.now());
    let asked = Instant::now();
    tokio::spawn(async move { Ok((store.audience(space, now).await?, asked)) })
}

enum Op {
    Text(String),
    End { message: Option<MessageId>, reason: Option<StreamEnd> },
}

/// A stream that is under way.
#[derive(Debug)]
pub(crate) struct LiveStream {
    ops: mpsc::UnboundedSender<Op>,
    task: JoinHandle<()>,
}

impl LiveStream {
    /// Begins a stream once it is known that the agent is a member of the space.
    pub(crate) fn start(air: Air, about: About, audience: Expected) -> Self {
        let (ops, received) = mpsc::unbounded_channel();
        Self { ops, task: tokio::spawn(run(air, about, audience, received)) }
    }

    /// More text.
    pub(crate) fn push(&self, text: String) {
        // Who is gone ended by itself: the agent is no member.
        let _ = self.ops.send(Op::Text(text));
    }

    /// No more text: it became `message`, or ended for a `reason`. The task to wait for before the run's worker goes.
    pub(crate) fn end(self, message: Option<MessageId>, reason: Option<StreamEnd>) -> JoinHandle<()> {
        let _ = self.ops.send(Op::End { message, reason });
        self.task
    }

    /// Ends it without a word to anyone. The task to wait for.
    pub(crate) fn leave(self) -> JoinHandle<()> {
        self.task
    }
}

async fn run(air: Air, about: About, audience: Expected, mut ops: mpsc::UnboundedReceiver<Op>) {
    // Without knowing who is a member nothing is shown; the message comes by itself.
    let Ok(Ok((audience, asked))) = audience.await else { return };
    let Some(member) = audience.roster.member(about.agent) else { return };
    let mut stream = Stream::new(air, about, member.sender(), (audience.roster.head.roster, asked));
    stream.admit(&audience);
    let mut refresh = Instant::now() + SNAPSHOT;
    loop {
        let flush = stream.flush_at();
        tokio::select! {
            // Text that is there counts before the clock does.
            biased;
            op = ops.recv() => match op {
                Some(Op::Text(text)) => stream.push(&text),
                Some(Op::End { message, reason }) => {
                    if stream.flush().await == Members::Gone {
                        break;
                    }
                    stream.post(Happening::StreamEnded { stream_id: stream.about.stream, message_id: message, reason });
                    break;
                }
                // The worker was dropped without a word: clients drop the text when the run goes on or ends.
                None => break,
            },
            () = sleep_until(flush.unwrap_or(refresh)), if flush.is_some() => if stream.flush().await == Members::Gone {
                break;
            },
            () = sleep_until(refresh) => {
                if stream.flush().await == Members::Gone || stream.refresh().await == Members::Gone {
                    break;
                }
                refresh = Instant::now() + SNAPSHOT;
            }
        }
    }
    stream.close().await;
}

/// Whether a stream may go on: its agent is a member of the space still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Members {
    There,
    Gone,
}

struct Stream {
    air: Air,
    about: About,
    sender: Sender,
    /// The roster by which the listeners were chosen.
    roster: u64,
    /// When it was last known to be the newest.
    checked: Instant,
    text: String,
    /// UTF-16 code units of what was posted.
    posted_units: usize,
    /// Bytes of what was posted.
    posted: usize,
    snapshot: usize,
    last_flush: Option<Instant>,
    listeners: HashMap<ConnectionId, mpsc::UnboundedSender<Arc<str>>>,
    tasks: JoinSet<()>,
}

impl Stream {
    fn new(air: Air, about: About, sender: Sender, (roster, checked): (u64, Instant)) -> Self {
        let (text, listeners, tasks) = (String::new(), HashMap::new(), JoinSet::new());
        Self { air, about, sender, roster, checked, text, posted_units: 0, posted: 0, snapshot: 0, last_flush: None, listeners, tasks }
    }

    /// When what waits is to be posted; none where nothing waits.
    fn flush_at(&self) -> Option<Instant> {
        let joined = JOINED.max(JOINED_EACH * u32::try_from(self.listeners.len()).unwrap_or(u32::MAX));
        (self.posted < self.text.len()).then(|| self.last_flush.map_or_else(Instant::now, |last| last + joined))
    }

    fn push(&mut self, text: &str) {
        // The rest comes with the message.
        let room = STREAM_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }

    async fn flush(&mut self) -> Members {
        if self.posted == self.text.len() {
            return Members::There;
        }
        if self.check().await == Members::Gone {
            return Members::Gone;
        }
        let text = self.text[self.posted..].to_owned();
        let offset = self.posted_units;
        self.posted_units += text.encode_utf16().count();
        self.posted = self.text.len();
        self.last_flush = Some(Instant::now());
        // A model may write a lot at once; a frame holds only so much.
        let mut offset = offset;
        for piece in pieces(&text) {
            self.post(Happening::StreamDelta { stream_id: self.about.stream, offset, text: piece.to_owned() });
            offset += piece.encode_utf16().count();
        }
        Members::There
    }

    /// Before anything is shown: has anybody left since the listeners were chosen? The space's head says so, for the price of one small read.
    async fn check(&mut self) -> Members {
        if self.checked.elapsed() < CHECKED {
            return Members::There;
        }
        match self.air.store.head(self.about.space).await {
            Ok(Some(head)) if head.roster == self.roster => {
                self.checked = Instant::now();
                Members::There
            }
            Ok(None) => Members::Gone,
            Ok(Some(_)) => self.refresh().await,
            Err(_) => {
                self.listeners.clear();
                Members::There
            }
        }
    }

    /// Reads again who follows, and who may.
    async fn refresh(&mut self) -> Members {
        let audience = match self.air.store.audience(self.about.space, self.air.clock.now()).await {
            Ok(audience) => audience,
            Err(Error::NotFound(_)) => return Members::Gone,
            Err(_) => {
                // Nobody is told what they perhaps may not know. Who may is found again, with a snapshot, in a moment.
                self.listeners.clear();
                return Members::There;
            }
        };
        if audience.roster.member(self.about.agent).is_none() {
            return Members::Gone;
        }
        (self.roster, self.checked) = (audience.roster.head.roster, Instant::now());
        if self.snapshot < self.posted {
            self.snapshot = self.posted;
            let frames = self.snapshot_frames();
            self.admit_quietly(&audience);
            for frame in frames {
                self.post(frame);
            }
        } else {
            self.admit(&audience);
        }
        Members::There
    }

    /// Takes in who is new, with all that was said so far, and lets go who left.
    fn admit(&mut self, audience: &Audience) {
        let new = self.admit_quietly(audience);
        if self.text.is_empty() {
            return;
        }
        let frames: Vec<_> = self.snapshot_frames().into_iter().map(|what| self.frame(what)).collect();
        for listener in new.iter().filter_map(|id| self.listeners.get(id)) {
            for frame in &frames {
                let _ = listener.send(Arc::clone(frame));
            }
        }
    }

    fn admit_quietly(&mut self, audience: &Audience) -> Vec<ConnectionId> {
        self.listeners.retain(|id, _| audience.connections.iter().any(|connection| connection.id == *id));
        let started = self.frame(Happening::StreamStarted {
            stream_id: self.about.stream,
            run_id: self.about.run,
            call_id: self.about.call,
            attempt: self.about.attempt,
            sender: self.sender.clone(),
            kind: StreamKind::Message,
            tool_name: None,
        });
        let mut new = Vec::new();
        for connection in &audience.connections {
            if !self.listeners.contains_key(&connection.id) {
                let (sender, frames) = mpsc::unbounded_channel();
                let _ = sender.send(Arc::clone(&started));
                self.tasks.spawn(post_all(self.air.clone(), connection.id.clone(), frames));
                self.listeners.insert(connection.id.clone(), sender);
                new.push(connection.id.clone());
            }
        }
        new
    }

    fn snapshot_frames(&self) -> Vec<Happening> {
        let mut offset = 0;
        let mut frames = Vec::new();
        for text in pieces(&self.text[..self.posted]) {
            let at = (offset > 0).then_some(offset);
            frames.push(Happening::StreamSnapshot { stream_id: self.about.stream, offset: at, text: text.to_owned() });
            offset += text.encode_utf16().count();
        }
        frames
    }

    fn frame(&self, what: Happening) -> Arc<str> {
        let at: Time = self.air.clock.now();
        Event { space_id: self.about.space, at, what }.to_frame().into()
    }

    fn post(&mut self, what: Happening) {
        if self.listeners.is_empty() {
            return;
        }
        let frame = self.frame(what);
        // A listener whose task ended is gone.
        self.listeners.retain(|_, listener| listener.send(Arc::clone(&frame)).is_ok());
    }

    async fn close(mut self) {
        self.listeners.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// A text in pieces that fit a frame each.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(SNAPSHOT_BYTES));
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Posts to one connection, one frame after the other. A frame that is not taken in time takes those behind it along: a snapshot follows.
async fn post_all(air: Air, connection: ConnectionId, mut frames: mpsc::UnboundedReceiver<Arc<str>>) {
    while let Some(frame) = frames.recv().await {
        match post_in_time(&*air.sockets, &connection, frame).await {
            Ok(()) => {}
            Err(PostError::Gone) => {
                if let Err(error) = air.store.disconnect(&connection).await {
                    tracing::warn!(%connection, %error, "a connection that is gone could not be forgotten");
                }
                return;
            }
            Err(PostError::Failed(_)) => while frames.try_recv().is_ok() {},
        }
    }
}
