//! Counts the open calls of each entity in this process.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use http_body::{Frame, SizeHint};
use smartspace_client::Refusal;
use smartspace_domain::{
    ids::EntityId,
    limits::{CALLS_RETRY_AFTER, CallLimits},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time::timeout,
};

/// How long a call queues before it is refused.
const QUEUE_TIME: Duration = Duration::from_secs(1);

/// The open calls of this process.
#[derive(Clone, Debug)]
pub(crate) struct OpenCalls {
    limits: CallLimits,
    entities: Arc<Mutex<HashMap<EntityId, Entry>>>,
}

#[derive(Debug)]
struct Entry {
    /// How many [`CallingEntity`] have the room.
    users: usize,
    room: Arc<Room>,
}

/// The room of an entity.
#[derive(Debug)]
struct Room {
    open: Arc<Semaphore>,
    waits: Arc<Semaphore>,
    /// For reading the body of one refused call.
    refused: Semaphore,
}

/// An entity that makes calls. Its room is forgotten with the last of these.
#[derive(Debug)]
pub(super) struct CallingEntity {
    calls: OpenCalls,
    id: EntityId,
    room: Arc<Room>,
}

/// An open call. It is counted until this is dropped.
#[derive(Debug)]
pub(super) struct OpenCall {
    _open: OwnedSemaphorePermit,
    wait: Option<OwnedSemaphorePermit>,
    entity: CallingEntity,
}

impl OpenCalls {
    pub(crate) fn new(limits: CallLimits) -> Self {
        Self { limits, entities: Arc::default() }
    }

    pub(super) fn of(&self, id: EntityId) -> CallingEntity {
        let mut entities = self.entities();
        let entry = entities.entry(id).or_insert_with(|| {
            let room = Room {
                open: Arc::new(Semaphore::new(self.limits.open)),
                waits: Arc::new(Semaphore::new(self.limits.waits)),
                refused: Semaphore::new(1),
            };
            Entry { users: 0, room: Arc::new(room) }
        });
        entry.users += 1;
        CallingEntity { calls: self.clone(), id, room: Arc::clone(&entry.room) }
    }

    fn entities(&self) -> MutexGuard<'_, HashMap<EntityId, Entry>> {
        self.entities.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for CallingEntity {
    fn clone(&self) -> Self {
        self.calls.of(self.id)
    }
}

impl Drop for CallingEntity {
    fn drop(&mut self) {
        let mut entities = self.calls.entities();
        let Some(entry) = entities.get_mut(&self.id) else { return };
        entry.users -= 1;
        if entry.users == 0 {
            entities.remove(&self.id);
        }
    }
}

impl CallingEntity {
    /// Counts a call. Refuses it with 429 if the entity still has too many open calls after a
    /// second.
    pub(super) async fn open(&self) -> Result<OpenCall, Refusal> {
        let open = queue(&self.room.open, || self.calls.limits.too_many_calls()).await?;
        Ok(OpenCall { _open: open, wait: None, entity: self.clone() })
    }

    /// Returns when the body of a refused call may be read, until the permit is dropped.
    pub(super) async fn read_refused(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.room.refused.acquire().await.ok()
    }
}

impl OpenCall {
    /// Counts the call as one that waits, too.
    pub(super) async fn begin_wait(&mut self) -> Result<(), Refusal> {
        let CallingEntity { calls, room, .. } = &self.entity;
        self.wait = Some(queue(&room.waits, || calls.limits.too_many_waits()).await?);
        Ok(())
    }

    /// Counts the call until the body of its response is sent or dropped.
    pub(super) fn until_end_of(self, response: Response) -> Response {
        response.map(|body| Body::new(CountedBody { body, _call: self }))
    }
}

/// Waits for a free place among the calls.
async fn queue(
    places: &Arc<Semaphore>,
    reason: impl FnOnce() -> String,
) -> Result<OwnedSemaphorePermit, Refusal> {
    if let Ok(Ok(place)) = timeout(QUEUE_TIME, Arc::clone(places).acquire_owned()).await {
        return Ok(place);
    }
    let retry_after = Some(CALLS_RETRY_AFTER.as_secs());
    Err(Refusal { retry_after, ..Refusal::new(429, reason()) })
}

/// A response body that holds its open call. A client that leaves drops the body.
struct CountedBody {
    body: Body,
    _call: OpenCall,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join;
    use smartspace_domain::Time;

    use super::*;

    fn entity(number: u128) -> EntityId {
        EntityId::new(Time::from_millis(0), number)
    }

    #[tokio::test(start_paused = true)]
    async fn each_entity_has_a_limit_of_open_calls() {
        let all = OpenCalls::new(CallLimits::DEFAULT);
        let mut calls = Vec::new();
        for _ in 0..CallLimits::DEFAULT.open {
            calls.push(all.of(entity(1)).open().await.unwrap());
        }
        let refusal = all.of(entity(1)).open().await.unwrap_err();
        assert_eq!((refusal.status, refusal.retry_after), (429, Some(CALLS_RETRY_AFTER.as_secs())));
        all.of(entity(2)).open().await.unwrap();
        calls.pop();
        let open = all.of(entity(1)).open().await.unwrap();
        let response = open.until_end_of(Response::default());
        assert!(all.of(entity(1)).open().await.is_err());
        drop(response);
        all.of(entity(1)).open().await.unwrap();
        drop(calls);
        assert!(all.entities().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn waits_leave_room_for_other_calls() {
        let all = OpenCalls::new(CallLimits::DEFAULT);
        let mut calls = Vec::new();
        for _ in 0..CallLimits::DEFAULT.waits {
            let mut call = all.of(entity(1)).open().await.unwrap();
            call.begin_wait().await.unwrap();
            calls.push(call);
        }
        let mut next = all.of(entity(1)).open().await.unwrap();
        assert_eq!(next.begin_wait().await.unwrap_err().status, 429);
        let freed = async { drop(calls.pop()) };
        let (waits, ()) = join(next.begin_wait(), freed).await;
        waits.unwrap();
    }
}
