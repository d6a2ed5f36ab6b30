//! A live stream shows what the model is writing: the text of a `send_message` call, or the input
//! of a visible tool. It is sent directly to the connections that follow the space.
//!
//! Each stream is a task, and so is each of its connections, so that a slow connection delays
//! neither the run nor the other connections. Nothing is stored. Snapshots are key frames: a client
//! that joins late or loses a frame has the whole text again within a second.
//!
//! In a large room jobs of the broadcasts queue post the frames, and a snapshot goes only to
//! connections that ask for it.
//!
//! [`LiveSteps`] shows in the same way which step the run works on, and [`DirectBroadcasts`] posts
//! the run's events.

mod direct_broadcasts;
mod live_steps;
mod open_streams;
mod posting;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use smartspace_domain::{
    events::{EventKind, StreamEnd},
    ids::{CallId, EntityId, MessageId, RunId, SpaceId, StreamId},
    jobs::BroadcastJob,
};
use smartspace_ports::{clock::Clock, queues::Queue, sockets::Sockets};
use smartspace_store::{Store, connections::Audience};
use tokio::{
    sync::mpsc,
    task::{JoinHandle, yield_now},
    time::{Instant, sleep_until},
};

pub(crate) use direct_broadcasts::DirectBroadcasts;
pub(crate) use live_steps::{LiveSteps, StepState};
pub(crate) use open_streams::OpenStreams;
use posting::{AgentMembership, Posting};

/// How often the followers are read again and a snapshot is sent. In a large room, how often the
/// stream checks whether a client has requested one. The API promises less than a second.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(800);

/// The dependencies of the streams of a run.
#[derive(Clone)]
pub(crate) struct StreamDeps {
    pub(crate) store: Store,
    pub(crate) sockets: Arc<dyn Sockets>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The queue of the jobs that post frames in large rooms.
    pub(crate) broadcasts: Arc<dyn Queue<BroadcastJob>>,
    /// The last read of followers.
    pub(crate) last_read: LastRead,
}

/// The space whose followers were read last, and when.
pub(crate) type LastRead = Arc<Mutex<Option<(SpaceId, Instant, PendingAudience)>>>;

/// The step that makes a call, and the index of the call in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallPosition {
    pub(crate) step: u32,
    pub(crate) index: u32,
}

/// A stream and the call that it shows.
#[derive(Clone, Debug)]
pub(crate) struct StreamInfo {
    pub(crate) space: SpaceId,
    pub(crate) stream: StreamId,
    pub(crate) run: RunId,
    pub(crate) call: CallId,
    pub(crate) position: CallPosition,
    pub(crate) attempt: u32,
    pub(crate) agent: EntityId,
    /// The tool whose input is shown. `None` for the text of a message.
    pub(crate) tool: Option<String>,
}

/// How long a read of the roster is used, unless this process itself removes a member. A member
/// that another process removes can read a stream for up to this time.
const ROSTER_FRESH_FOR: Duration = Duration::from_millis(250);

/// The connections that follow a space.
#[derive(Clone, Debug)]
pub(crate) struct ReadAudience {
    audience: Arc<Audience>,
    /// When the read began.
    began: Instant,
}

/// A read of the connections that follow a space. It runs while the model is called, and several
/// may wait for it. It gives `None` if they can't be read.
pub(crate) type PendingAudience = Shared<BoxFuture<'static, Option<ReadAudience>>>;

/// Starts to read the connections that follow a space.
pub(crate) fn read_audience(deps: &StreamDeps, space: SpaceId) -> PendingAudience {
    let store = deps.store.clone();
    let now = deps.clock.now();
    let began = Instant::now();
    let read = tokio::spawn(async move {
        let audience = Arc::new(store.connections().audience(space, now).await.ok()?);
        Some(ReadAudience { audience, began })
    });
    let pending = read.map(|read| read.ok().flatten()).boxed().shared();
    let mut last = deps.last_read.lock().unwrap_or_else(PoisonError::into_inner);
    *last = Some((space, began, pending.clone()));
    pending
}

/// The connections that follow a space, as they were read `since`, or as they are read now.
pub(crate) fn audience_since(deps: &StreamDeps, space: SpaceId, since: Instant) -> PendingAudience {
    let last = deps.last_read.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match last {
        Some((of, began, pending)) if of == space && began >= since => pending,
        _ => read_audience(deps, space),
    }
}

/// The connections that follow a space, if they were read just now, or as they are read now.
pub(crate) fn recent_audience(deps: &StreamDeps, space: SpaceId) -> PendingAudience {
    let now = Instant::now();
    audience_since(deps, space, now.checked_sub(ROSTER_FRESH_FOR).unwrap_or(now))
}

/// Whether a roster of this version, which was read at this moment, can still be used.
fn is_roster_fresh(deps: &StreamDeps, space: SpaceId, roster: u64, at: Instant) -> bool {
    at.elapsed() < ROSTER_FRESH_FOR && !deps.store.members().has_removed_since(space, roster)
}

enum Op {
    Text(String),
    End { message: Option<MessageId>, reason: Option<StreamEnd> },
}

/// A stream that is open.
#[derive(Debug)]
pub(crate) struct LiveStream {
    ops: mpsc::UnboundedSender<Op>,
    task: JoinHandle<()>,
}

impl LiveStream {
    /// Starts a stream. Nothing is sent before the agent is known to be a member of the space.
    pub(crate) fn start(deps: StreamDeps, info: StreamInfo, audience: PendingAudience) -> Self {
        let (ops, received) = mpsc::unbounded_channel();
        Self { ops, task: tokio::spawn(drive_stream(deps, info, audience, received)) }
    }

    pub(crate) fn push(&self, text: String) {
        // The send fails if the task has ended: the agent is not a member of the space.
        let _ = self.ops.send(Op::Text(text));
    }

    /// Ends the stream: its text became `message`, or it ended for a `reason`. Returns its task,
    /// which must end before the worker of the run returns.
    pub(crate) fn end(
        self,
        message: Option<MessageId>,
        reason: Option<StreamEnd>,
    ) -> JoinHandle<()> {
        let _ = self.ops.send(Op::End { message, reason });
        self.task
    }

    /// Ends the stream without an event. Returns the task to wait for.
    pub(crate) fn detach(self) -> JoinHandle<()> {
        self.task
    }
}

async fn drive_stream(
    deps: StreamDeps,
    info: StreamInfo,
    audience: PendingAudience,
    mut ops: mpsc::UnboundedReceiver<Op>,
) {
    // If the members can't be read, nothing is shown. Clients still get the finished message.
    let Some(ReadAudience { audience, began }) = audience.await else { return };
    let Some(member) = audience.roster.member(info.agent) else { return };
    let id = info.stream;
    let mut stream = Posting::new(deps, info, member.sender(), audience.roster.head.roster, began);
    if stream.is_roster_fresh() || audience.connections.is_empty() {
        stream.admit(&audience);
    } else if stream.tick().await == AgentMembership::Ended {
        // The audience was read when the model was asked, and somebody may have left since.
        return stream.close().await;
    }
    let mut refresh = Instant::now() + SNAPSHOT_INTERVAL;
    loop {
        let flush = stream.flush_at();
        tokio::select! {
            // Text that has arrived is handled before the timers.
            biased;
            op = ops.recv() => match op {
                Some(Op::Text(text)) => stream.push(&text),
                Some(Op::End { message, reason }) => {
                    let ended =
                        EventKind::StreamEnded { stream_id: id, message_id: message, reason };
                    stream.end(ended).await;
                    break;
                }
                // The worker was dropped without ending its streams. Clients discard the text when
                // the run goes on or ends.
                None => break,
            },
            () = due(flush.unwrap_or(refresh)), if flush.is_some() => {
                if stream.flush().await == AgentMembership::Ended {
                    break;
                }
            }
            () = sleep_until(refresh) => {
                if stream.tick().await == AgentMembership::Ended {
                    break;
                }
                refresh = Instant::now() + SNAPSHOT_INTERVAL;
            }
        }
    }
    stream.close().await;
}

/// Waits until this time. A timer rounds up to its next millisecond, which would delay what is due
/// already.
async fn due(at: Instant) {
    if at > Instant::now() {
        sleep_until(at).await;
    } else {
        // Text that is about to arrive goes along.
        yield_now().await;
    }
}
