//! The connections that receive a stream. Each has a task that posts its frames in order.

use std::{collections::BTreeMap, sync::Arc};

use smartspace_domain::ids::ConnectionId;
use smartspace_pipeline::frames::{SendOutcome, send_frame};
use smartspace_store::connections::Audience;
use tokio::{sync::mpsc, task::JoinSet};

use crate::streaming::StreamDeps;

#[derive(Default)]
pub(super) struct Listeners {
    queues: BTreeMap<ConnectionId, mpsc::UnboundedSender<Arc<str>>>,
    tasks: JoinSet<()>,
}

impl Listeners {
    pub(super) fn len(&self) -> usize {
        self.queues.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Drops all listeners. Their tasks still post the frames that wait.
    pub(super) fn clear(&mut self) {
        self.queues.clear();
    }

    /// Drops listeners that have left the audience. Adds the new ones, sends them the `first` frame
    /// and returns them.
    pub(super) fn update(
        &mut self,
        deps: &StreamDeps,
        audience: &Audience,
        first: &Arc<str>,
    ) -> Vec<ConnectionId> {
        self.queues
            .retain(|id, _| audience.connections.iter().any(|connection| connection.id == *id));
        let mut new = Vec::new();
        for connection in &audience.connections {
            if !self.queues.contains_key(&connection.id) {
                let (queue, frames) = mpsc::unbounded_channel();
                let _ = queue.send(Arc::clone(first));
                self.tasks.spawn(post_all(deps.clone(), connection.id.clone(), frames));
                self.queues.insert(connection.id.clone(), queue);
                new.push(connection.id.clone());
            }
        }
        new
    }

    /// Sends frames to some of the listeners.
    pub(super) fn send_to(&self, ids: &[ConnectionId], frames: &[Arc<str>]) {
        for queue in ids.iter().filter_map(|id| self.queues.get(id)) {
            for frame in frames {
                let _ = queue.send(Arc::clone(frame));
            }
        }
    }

    /// Sends a frame to all listeners.
    pub(super) fn send(&mut self, frame: &Arc<str>) {
        // The send fails if the task of a listener has ended: its connection is gone.
        self.queues.retain(|_, queue| queue.send(Arc::clone(frame)).is_ok());
    }

    /// Waits until all frames are posted.
    pub(super) async fn close(mut self) {
        self.clear();
        while self.tasks.join_next().await.is_some() {}
    }
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
