//! Posts the events of a run directly to the followers of its spaces, if these are few. That takes
//! the same read of the followers as a job of the broadcasts queue, without the queue's three
//! requests and another invocation.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use smartspace_domain::{
    events::{Event, EventKind},
    ids::SpaceId,
    jobs::{BroadcastJob, EventJob},
};
use smartspace_pipeline::followers::Followers;
use smartspace_ports::queues::{Queue, QueueError};
use tokio::{sync::mpsc, task::JoinHandle, time::Instant};

use crate::streaming::{PendingAudience, StreamDeps, audience_since};

/// The most events that are taken at once.
const TAKEN_AT_ONCE: usize = 16;

/// The broadcasts queue of one run. One task posts the events in their order, so that the run waits
/// for no connection.
pub(crate) struct DirectBroadcasts {
    deps: StreamDeps,
    /// The space whose message triggered the run.
    space: Option<SpaceId>,
    claimed_at: Instant,
    reads: Mutex<Reads>,
    poster: Mutex<Option<Poster>>,
}

/// The moment from which a read of the followers serves an event. An earlier read may lack a client
/// that has followed the space since.
#[derive(Default)]
struct Reads {
    /// The moment that was used for the last event.
    last: Option<Instant>,
    /// The next events use the same moment, see [`DirectBroadcasts::share_last_read`].
    is_shared: bool,
}

type Poster = (mpsc::UnboundedSender<Announced>, JoinHandle<()>);

/// An event that has happened.
struct Announced {
    event: Event,
    /// A read of the followers that began since then serves it.
    since: Instant,
}

impl DirectBroadcasts {
    /// For a run that was claimed just now. `deps` has the queue for everything else.
    pub(crate) fn new(deps: StreamDeps, space: Option<SpaceId>) -> Self {
        Self {
            deps,
            space,
            claimed_at: Instant::now(),
            reads: Mutex::default(),
            poster: Mutex::default(),
        }
    }

    fn post(&self, event: Event) {
        // A run that a message triggered begins with the claim.
        let begins = matches!(event.what, EventKind::RunStarted { .. })
            && self.space == Some(event.space_id);
        let since = if begins { self.claimed_at } else { self.since() };
        let mut poster = self.poster.lock().unwrap_or_else(PoisonError::into_inner);
        let (events, _) = poster.get_or_insert_with(|| {
            let (events, received) = mpsc::unbounded_channel();
            (events, tokio::spawn(post_all(self.deps.clone(), received)))
        });
        // The task ends after its sender.
        let _ = events.send(Announced { event, since });
    }

    /// The moment from which a read of the followers serves an event that happens now.
    fn since(&self) -> Instant {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = reads.last.filter(|_| reads.is_shared);
        let since = shared.unwrap_or_else(Instant::now);
        reads.last = Some(since);
        since
    }

    /// The next events describe what was stored together with the last one. One read of the
    /// followers serves them all: a client that follows later finds everything stored.
    pub(crate) fn share_last_read(&self) {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).is_shared = true;
    }

    /// Waits until all events are posted.
    pub(crate) async fn close(&self) {
        let poster = self.poster.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((events, task)) = poster {
            drop(events);
            let _ = task.await;
        }
    }
}

#[async_trait]
impl Queue<BroadcastJob> for DirectBroadcasts {
    async fn send(&self, jobs: Vec<BroadcastJob>) -> Result<(), QueueError> {
        let mut others = Vec::new();
        for job in jobs {
            match job {
                // The function `broadcast` notifies those whom a card or a text names, too.
                BroadcastJob::Event(EventJob { event, to: None })
                    if event.what.inbox_change().is_none() && !event.what.may_mention_people() =>
                {
                    self.post(*event);
                }
                job => others.push(job),
            }
        }
        if others.is_empty() { Ok(()) } else { self.deps.broadcasts.send(others).await }
    }
}

async fn post_all(deps: StreamDeps, mut events: mpsc::UnboundedReceiver<Announced>) {
    let mut large = BTreeSet::new();
    let mut taken = Vec::new();
    while events.recv_many(&mut taken, TAKEN_AT_ONCE).await > 0 {
        // One read serves all events that wait.
        let mut read: BTreeMap<SpaceId, PendingAudience> = BTreeMap::new();
        for space in taken.iter().map(|announced| announced.event.space_id) {
            let newest = taken.iter().filter(|it| it.event.space_id == space).map(|it| it.since);
            if let (Some(since), false) = (newest.max(), large.contains(&space)) {
                read.entry(space).or_insert_with(|| audience_since(&deps, space, since));
            }
        }
        for Announced { event, .. } in taken.drain(..) {
            let audience = read.get(&event.space_id).cloned();
            if !post_directly(&deps, &event, audience, &mut large).await {
                queue(&deps, event).await;
            }
        }
    }
}

/// Posts an event. Returns false if the broadcasts queue has to: too many connections follow the
/// space, or they could not be read.
async fn post_directly(
    deps: &StreamDeps,
    event: &Event,
    audience: Option<PendingAudience>,
    large: &mut BTreeSet<SpaceId>,
) -> bool {
    let Some(audience) = audience else { return false };
    let Some(read) = audience.await else { return false };
    let connections = &read.audience.connections;
    if connections.len() > deps.store.room_limits().direct {
        large.insert(event.space_id);
        return false;
    }
    let followers = Followers {
        store: &deps.store,
        sockets: &*deps.sockets,
        clock: &*deps.clock,
        queue: &*deps.broadcasts,
    };
    let roster = Some(read.audience.roster.head.roster);
    match followers.send(event, connections, roster).await {
        Ok(()) => true,
        Err(error) => {
            tracing::debug!(space = %event.space_id, %error, "an event was not posted directly");
            false
        }
    }
}

async fn queue(deps: &StreamDeps, event: Event) {
    let space = event.space_id;
    if let Err(error) = deps.broadcasts.send(vec![event.into()]).await {
        tracing::warn!(event = "jobs_not_queued", %space, %error, "an event was not queued");
    }
}

impl std::fmt::Debug for DirectBroadcasts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirectBroadcasts").finish_non_exhaustive()
    }
}
