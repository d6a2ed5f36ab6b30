//! A live stream: the text of one `send_message` call, or the input of a visible tool, while the model writes it, posted straight to who follows
//! the space. [`written`] says what of a call is shown, and where.
//!
//! A stream is a task of its own, and so is each connection in it: a slow one holds up neither the run nor the others. Nothing is stored.
//! The snapshot is a key frame: whoever joins in the middle, or lost a frame, is complete again within a second.

mod open_streams;
mod posting;
pub(crate) mod written;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Result,
    events::{Happening, StreamEnd},
    ids::{CallId, EntityId, MessageId, RunId, SpaceId, StreamId},
};
use smartspace_edges::{clock::Clock, sockets::Sockets};
use smartspace_store::{Store, connections::Audience};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep_until},
};

pub(crate) use open_streams::OpenStreams;
use posting::{Members, Posting};

/// How often who follows is read again, and a snapshot sent: below the second that is promised.
const SNAPSHOT: Duration = Duration::from_millis(800);

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
    /// The tool whose input it is; none for a message's text.
    pub(crate) tool: Option<String>,
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
    let id = about.stream;
    let mut stream = Posting::new(air, about, member.sender(), (audience.roster.head.roster, asked));
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
                    stream.post(&Happening::StreamEnded { stream_id: id, message_id: message, reason });
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
