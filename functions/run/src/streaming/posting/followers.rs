//! The followers that receive a stream, and the ways in which its frames reach them.
//!
//! In a small room each has a task that posts its frames in order. In a large room jobs of the
//! broadcasts queue post the frames, a hundred connections each.

mod outbox;

use std::{collections::BTreeMap, sync::Arc};

use smartspace_domain::{
    Time,
    events::Event,
    ids::{ConnectionId, SpaceId},
    jobs::{BroadcastJob, Recipient},
};
use smartspace_pipeline::frames::{SendOutcome, send_frame};
use smartspace_store::connections::{Audience, ConnectionRecord};
use tokio::{sync::mpsc, task::JoinSet};

use crate::streaming::StreamDeps;
use outbox::Outbox;

#[derive(Default)]
pub(super) struct StreamFollowers {
    known: BTreeMap<ConnectionId, StreamFollower>,
    tasks: JoinSet<()>,
    /// The events that wait for the next jobs.
    outbox: Outbox,
    is_large: bool,
}

struct StreamFollower {
    /// The queue of its task. `None` in a large room.
    queue: Option<mpsc::UnboundedSender<Arc<str>>>,
    /// The subscription, as it was last read.
    connection: ConnectionRecord,
}

impl StreamFollowers {
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether jobs post the frames.
    pub(super) fn are_many(&self) -> bool {
        self.is_large && !self.is_empty()
    }

    /// Drops followers whose credential has expired, when the audience can't be read.
    pub(super) fn drop_expired(&mut self, now: Time) {
        self.known.retain(|_, follower| follower.connection.valid_until > now);
    }

    /// Drops followers that have left the audience. Adds the new ones and sends them the `first`
    /// event. Returns the new ones, and those that have asked for a snapshot.
    pub(super) fn update(
        &mut self,
        deps: &StreamDeps,
        audience: &Audience,
        first: &Event,
    ) -> Vec<ConnectionId> {
        self.is_large = audience.connections.len() > deps.store.room_limits().direct;
        let mut before = std::mem::take(&mut self.known);
        let mut asking = Vec::new();
        let mut new = Vec::new();
        for connection in &audience.connections {
            let id = &connection.id;
            let old = before.remove(id);
            if old.is_none() {
                new.push(id.clone());
            }
            if old.as_ref().is_none_or(|old| old.connection.asked_at != connection.asked_at) {
                asking.push(id.clone());
            }
            let mut queue = old.and_then(|old| old.queue);
            if self.is_large {
                // The task of a room that was small ends after the frames that wait.
                queue = None;
            } else if queue.is_none() {
                queue = Some(self.start_task(deps, id));
            }
            let connection = connection.clone();
            self.known.insert(connection.id.clone(), StreamFollower { queue, connection });
        }
        self.send_to(&new, std::slice::from_ref(first));
        asking
    }

    fn start_task(
        &mut self,
        deps: &StreamDeps,
        id: &ConnectionId,
    ) -> mpsc::UnboundedSender<Arc<str>> {
        let (queue, frames) = mpsc::unbounded_channel();
        self.tasks.spawn(post_all(deps.clone(), id.clone(), frames));
        queue
    }

    /// Sends events to some of the followers.
    pub(super) fn send_to(&mut self, ids: &[ConnectionId], events: &[Event]) {
        if self.is_large {
            for event in events {
                self.outbox.add(event, ids.iter().cloned());
            }
            return;
        }
        for frame in events.iter().map(frame_of) {
            for follower in ids.iter().filter_map(|id| self.known.get(id)) {
                follower.send(&frame);
            }
        }
    }

    /// Sends an event to all followers.
    pub(super) fn send(&mut self, event: &Event) {
        if self.is_large {
            self.outbox.add(event, self.known.keys().cloned());
            return;
        }
        let frame = frame_of(event);
        // The send fails if the task of a follower has ended: its connection is gone.
        self.known.retain(|_, follower| follower.send(&frame));
    }

    /// Queues the events that wait, in a large room. `roster` is the version of the roster by which
    /// the followers were chosen.
    pub(super) async fn deliver(&mut self, deps: &StreamDeps, space_id: SpaceId, roster: u64) {
        let now = deps.clock.now();
        let per_job = deps.store.room_limits().per_job;
        let recipient = |id: &ConnectionId| {
            let follower = self.known.get(id)?;
            let ConnectionRecord { caller, valid_until, .. } = follower.connection;
            (valid_until > now).then(|| Recipient::new(id.clone(), caller))
        };
        let jobs = std::mem::take(&mut self.outbox).into_jobs(roster, per_job, recipient);
        if jobs.is_empty() {
            return;
        }
        let count = jobs.len();
        let jobs = jobs.into_iter().map(BroadcastJob::Event).collect();
        if let Err(error) = deps.broadcasts.send(jobs).await {
            // Clients see the gap and ask for a snapshot, or get the message.
            tracing::warn!(
                event = "jobs_not_queued",
                space = %space_id,
                %error,
                count,
                "frames of a stream were not queued"
            );
        }
    }

    /// Waits until all frames are posted.
    pub(super) async fn close(mut self) {
        // Their tasks still post the frames that wait, and then end.
        self.known.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl StreamFollower {
    fn send(&self, frame: &Arc<str>) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.send(Arc::clone(frame)).is_ok())
    }
}

fn frame_of(event: &Event) -> Arc<str> {
    event.to_frame().into()
}

/// Posts frames to one connection in order. If one is not accepted in time, the frames that wait
/// are dropped too: a later snapshot replaces them.
async fn post_all(
    deps: StreamDeps,
    connection: ConnectionId,
    mut frames: mpsc::UnboundedReceiver<Arc<str>>,
) {
    while let Some(frame) = frames.recv().await {
        match send_frame(&deps.store, &*deps.sockets, &connection, frame).await {
            SendOutcome::Sent => {}
            SendOutcome::Gone => return,
            SendOutcome::Failed => while frames.try_recv().is_ok() {},
        }
    }
}
