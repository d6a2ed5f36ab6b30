//! Tells everyone who follows a space what happened there.
//!
//! Who is told is read together with who is a member. Each connection is posted to by itself and for a second at most; one that is gone
//! is forgotten. No job ever fails for a connection's sake.

use std::sync::Arc;

use futures::future::join_all;
use smartspace_domain::{
    Error, Result,
    access::Caller,
    events::{Event, Happening},
    ids::{ConnectionId, EntityId, SpaceId},
    jobs::BroadcastJob,
};
use smartspace_edges::{clock::Clock, sockets::Sockets};
use smartspace_pipeline::frames::tell;
use smartspace_store::{Store, connections::ConnectionRecord};

/// What this function needs.
#[derive(Clone)]
pub struct Broadcast {
    /// The table.
    pub store: Store,
    /// The connections.
    pub sockets: Arc<dyn Sockets>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl Broadcast {
    /// Does one job.
    pub async fn handle(&self, job: &BroadcastJob) -> Result<()> {
        match job {
            BroadcastJob::Event { event } => self.tell(event).await,
            BroadcastJob::Removed { entity_id, space_id } => self.remove(*space_id, *entity_id).await,
        }
    }

    async fn tell(&self, event: &Event) -> Result<()> {
        let connections = match self.store.audience(event.space_id, self.clock.now()).await {
            Ok(audience) => audience.connections,
            // The space is gone: there is no roster any more, and only the news of it is for those who follow it still.
            Err(Error::NotFound(_)) if event.what == Happening::SpaceDeleted => self.store.followers(event.space_id).await?,
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if connections.is_empty() {
            return Ok(());
        }
        let whole: Arc<str> = event.to_frame().into();
        let Some(origin) = event.foreign_origin() else {
            self.post(connections.iter().map(|connection| (&connection.id, &whole))).await;
            return Ok(());
        };
        let cut: Arc<str> = event.without_origin().to_frame().into();
        let knows = self.who_knows(origin).await?;
        self.post(connections.iter().map(|connection| (&connection.id, if knows(connection) { &whole } else { &cut }))).await;
        Ok(())
    }

    /// Who may know of a space: the operator, and its members.
    async fn who_knows(&self, space: SpaceId) -> Result<impl Fn(&ConnectionRecord) -> bool> {
        let roster = match self.store.roster(space).await {
            Ok(roster) => Some(roster),
            Err(Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        Ok(move |connection: &ConnectionRecord| match connection.caller {
            Caller::Operator => true,
            Caller::Entity(entity) => roster.as_ref().is_some_and(|roster| roster.member(entity).is_some()),
        })
    }

    async fn remove(&self, space: SpaceId, entity: EntityId) -> Result<()> {
        let connections = self.store.followers_of(space, entity).await?;
        for connection in &connections {
            self.store.unsubscribe(connection, space).await?;
        }
        let frame: Arc<str> = format!(r#"{{"type":"unsubscribed","spaceId":"{space}","reason":"removed"}}"#).into();
        self.post(connections.iter().map(|connection| (connection, &frame))).await;
        Ok(())
    }

    async fn post(&self, frames: impl Iterator<Item = (&ConnectionId, &Arc<str>)>) {
        join_all(frames.map(|(connection, frame)| tell(&self.store, &*self.sockets, connection, Arc::clone(frame)))).await;
    }
}

impl std::fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broadcast").finish_non_exhaustive()
    }
}
