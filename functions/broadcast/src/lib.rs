//! Tells everyone who follows a space what happened there, and an entity which spaces it came into and left.
//!
//! Who is told is read together with who is a member. Each connection is posted to by itself and for a second at most; one that is gone
//! is forgotten. No job ever fails for a connection's sake.

use std::sync::Arc;

use futures::future::join_all;
use smartspace_domain::{
    Error, Result,
    access::{Caller, KnownBy},
    events::{Event, Happening},
    ids::{ConnectionId, EntityId, SpaceId},
    jobs::BroadcastJob,
};
use smartspace_edges::{clock::Clock, sockets::Sockets};
use smartspace_pipeline::frames::{close_expired, tell, tell_own};
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
            BroadcastJob::Joined { entity_id, space_id } => self.joined(*space_id, *entity_id).await,
            BroadcastJob::Left { entity_id, space_id } => self.left(*space_id, *entity_id).await,
            BroadcastJob::Removed { entity_id, space_id } => self.remove(*space_id, *entity_id).await,
        }
    }

    async fn tell(&self, event: &Event) -> Result<()> {
        let mut connections = match self.store.audience(event.space_id, self.clock.now()).await {
            Ok(audience) => {
                self.close(&audience.expired).await?;
                audience.connections
            }
            // The space is gone: there is no roster any more, and only the news of it is for those who follow it still.
            Err(Error::NotFound(_)) if event.what == Happening::SpaceDeleted => self.store.followers(event.space_id).await?,
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if event.is_for_operator() {
            connections.retain(|connection| connection.caller == Caller::Operator);
        }
        if connections.is_empty() {
            return Ok(());
        }
        let whole: Arc<str> = event.to_frame().into();
        let Some(known_by) = event.known_by() else {
            self.post(connections.iter().map(|connection| (&connection.id, &whole))).await;
            return Ok(());
        };
        let cut: Arc<str> = event.for_others().to_frame().into();
        let knows = self.who_knows(known_by).await?;
        self.post(connections.iter().map(|connection| (&connection.id, if knows(connection) { &whole } else { &cut }))).await;
        Ok(())
    }

    /// Who may know of it: the operator, and perhaps the members of a space.
    async fn who_knows(&self, known_by: KnownBy) -> Result<impl Fn(&ConnectionRecord) -> bool> {
        let roster = match known_by {
            KnownBy::Operator => None,
            KnownBy::Members(space) => match self.store.roster(space).await {
                Ok(roster) => Some(roster),
                Err(Error::NotFound(_)) => None,
                Err(error) => return Err(error),
            },
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

    /// Tells an entity's own connections of a space that it is in. Where it has left again meanwhile there is nothing to tell.
    async fn joined(&self, id: SpaceId, entity: EntityId) -> Result<()> {
        let connections = self.store.connections_of(entity, self.clock.now()).await?;
        if connections.is_empty() {
            return Ok(());
        }
        let space = match self.store.space(id).await {
            Ok(space) => space.seen_by(Caller::Entity(entity)),
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some(member) = space.members.iter().find(|member| member.id == entity) else { return Ok(()) };
        let at = member.joined_at;
        self.tell_own(&connections, Event { space_id: id, at, what: Happening::SpaceJoined { space: Box::new(space) } }).await;
        Ok(())
    }

    /// Tells an entity's own connections of a space that it has left. Where it is back meanwhile there is nothing to tell.
    async fn left(&self, space_id: SpaceId, entity: EntityId) -> Result<()> {
        let now = self.clock.now();
        let connections = self.store.connections_of(entity, now).await?;
        if connections.is_empty() {
            return Ok(());
        }
        match self.store.roster(space_id).await {
            Ok(roster) if roster.member(entity).is_some() => return Ok(()),
            Ok(_) | Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        self.tell_own(&connections, Event { space_id, at: now, what: Happening::SpaceLeft }).await;
        Ok(())
    }

    async fn tell_own(&self, connections: &[ConnectionRecord], event: Event) {
        let (frame, now): (Arc<str>, _) = (event.to_frame().into(), self.clock.now());
        let posts = connections.iter().map(|connection| tell_own(&self.store, &*self.sockets, connection, Arc::clone(&frame), now));
        join_all(posts).await;
    }

    /// Closes connections whose credential has expired, and forgets them. A host that keeps their time itself has done so before.
    async fn close(&self, expired: &[ConnectionId]) -> Result<()> {
        for connection in expired {
            close_expired(&self.store, &*self.sockets, connection, None).await?;
        }
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
