//! Sends the events of a space to everyone who follows it, and notifies an entity of the spaces
//! that it joined and left.
//!
//! [`Followers`] posts the events. Connections whose credential has expired are closed after the
//! event was sent. In large rooms jobs also post what agents write.

use std::{collections::BTreeSet, sync::Arc};

use futures::{
    StreamExt, TryStreamExt,
    future::{BoxFuture, join_all, try_join_all},
    stream,
};
use smartspace_domain::{
    Error, Result,
    access::Caller,
    entities::EntityType,
    events::{Event, EventKind, InboxChange, ReadPosition},
    ids::{EntityId, SpaceId},
    jobs::BroadcastJob,
};
use smartspace_pipeline::{
    followers::Followers,
    frames::{close_expired_of_many, send_frame, send_own_frame},
};
use smartspace_ports::{clock::Clock, queues::Queue, sockets::Sockets};
use smartspace_store::{
    Store,
    connections::{Audience, ConnectionRecord},
    spaces::rosters::Roster,
};

/// The connections of how many people are read at once.
const READ_AT_ONCE: usize = 32;

/// The dependencies of the function.
#[derive(Clone)]
pub struct Broadcast {
    pub store: Store,
    pub sockets: Arc<dyn Sockets>,
    pub clock: Arc<dyn Clock>,
    /// The queue of its own jobs.
    pub queue: Arc<dyn Queue<BroadcastJob>>,
}

impl Broadcast {
    /// Handles one job.
    ///
    /// Boxed here, so that the crates that call it need not compile it once more.
    pub fn handle<'a>(&'a self, job: &'a BroadcastJob) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.handle_job(job))
    }

    async fn handle_job(&self, job: &BroadcastJob) -> Result<()> {
        let done = self.act(job).await;
        self.sockets.post_permits().report_late();
        done
    }

    async fn act(&self, job: &BroadcastJob) -> Result<()> {
        match job {
            BroadcastJob::Event(job) => match &job.to {
                None => self.send_event(&job.event).await,
                Some(to) => self.followers().send_to(&job.event, to).await,
            },
            BroadcastJob::Joined { entity_id, space_id } => {
                self.joined(*space_id, *entity_id).await
            }
            BroadcastJob::Left { entity_id, space_id } => self.left(*space_id, *entity_id).await,
            BroadcastJob::OwnRead { entity_id, space_id, seq, cards } => {
                let read = ReadPosition { entity_id: *entity_id, seq: *seq };
                self.own_read(*space_id, read, *cards).await
            }
            BroadcastJob::Activity { space_id } => self.show_activity(*space_id).await,
            BroadcastJob::Removed { entity_id, space_id } => {
                self.remove(*space_id, *entity_id).await
            }
        }
    }

    async fn send_event(&self, event: &Event) -> Result<()> {
        let audience = self.store.connections().audience(event.space_id, self.clock.now()).await;
        let (connections, expired, roster) = match audience {
            Ok(Audience { connections, expired, roster }) => (connections, expired, Some(roster)),
            // The space and its roster are deleted. Only the event of the deletion still goes to
            // its followers.
            Err(Error::NotFound(_)) if event.what == EventKind::SpaceDeleted => {
                (self.store.connections().followers(event.space_id).await?, Vec::new(), None)
            }
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if let (Some(roster), Some(change)) = (&roster, event.what.inbox_change()) {
            self.show_in_inboxes(event, change, roster).await?;
        }
        if let Some(roster) = &roster {
            self.notify_mentioned(event, roster).await?;
        }
        let version = roster.map(|roster| roster.head.roster);
        self.followers().send(event, &connections, version).await?;
        close_expired_of_many(&self.store, &*self.sockets, &expired).await;
        Ok(())
    }

    /// Notifies the members that a card names that it waits for them, or no longer waits.
    async fn show_in_inboxes(
        &self,
        event: &Event,
        change: InboxChange,
        roster: &Roster,
    ) -> Result<()> {
        let now = self.clock.now();
        // Others can't see the card.
        let members = change.named.into_iter().filter(|named| roster.member(*named).is_some());
        let found = members.map(|member| self.store.connections().of_entity(member, now));
        let connections: Vec<_> = try_join_all(found).await?.into_iter().flatten().collect();
        let own = Event { space_id: event.space_id, at: event.at, what: change.what };
        self.send_own_event(&connections, own).await;
        Ok(())
    }

    /// Notifies the people whom a new message mentions, or to whom it replies.
    async fn notify_mentioned(&self, event: &Event, roster: &Roster) -> Result<()> {
        let now = self.clock.now();
        let notices = event.what.mention_notices(|id| roster.is_person(id));
        let found = notices.iter().map(|(it, _)| self.store.connections().of_entity(*it, now));
        let connections = try_join_all(found).await?;
        let posts = connections.iter().zip(notices).map(|(connections, (_, what))| {
            let own = Event { space_id: event.space_id, at: event.at, what };
            self.send_own_event(connections, own)
        });
        join_all(posts).await;
        Ok(())
    }

    fn followers(&self) -> Followers<'_> {
        Followers {
            store: &self.store,
            sockets: &*self.sockets,
            clock: &*self.clock,
            queue: &*self.queue,
        }
    }

    async fn remove(&self, space: SpaceId, entity: EntityId) -> Result<()> {
        let connections = self.store.connections().followers_of(space, entity).await?;
        for connection in &connections {
            self.store.connections().unsubscribe(connection, space).await?;
            self.store.connections().forget_presence(connection, space).await?;
        }
        let frame: Arc<str> =
            format!(r#"{{"type":"unsubscribed","spaceId":"{space}","reason":"removed"}}"#).into();
        join_all(connections.iter().map(|connection| {
            send_frame(&self.store, &*self.sockets, connection, Arc::clone(&frame))
        }))
        .await;
        Ok(())
    }

    /// Notifies an entity's connections that it joined a space, unless it has left again.
    async fn joined(&self, id: SpaceId, entity: EntityId) -> Result<()> {
        let connections = self.store.connections().of_entity(entity, self.clock.now()).await?;
        if connections.is_empty() {
            return Ok(());
        }
        let space = match self.store.spaces().seen_by(id, Caller::Entity(entity)).await {
            Ok(space) => space,
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some(member) = space.members.iter().find(|member| member.id == entity) else {
            return Ok(());
        };
        let at = member.joined_at;
        self.send_own_event(
            &connections,
            Event { space_id: id, at, what: EventKind::SpaceJoined { space: Box::new(space) } },
        )
        .await;
        Ok(())
    }

    /// Notifies an entity's connections that it left a space, unless it has joined again.
    async fn left(&self, space_id: SpaceId, entity: EntityId) -> Result<()> {
        let now = self.clock.now();
        let connections = self.store.connections().of_entity(entity, now).await?;
        if connections.is_empty() {
            return Ok(());
        }
        match self.store.members().roster(space_id).await {
            Ok(roster) if roster.member(entity).is_some() => return Ok(()),
            Ok(_) | Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        let event = Event { space_id, at: now, what: EventKind::SpaceLeft };
        self.send_own_event(&connections, event).await;
        Ok(())
    }

    /// Notifies an entity's connections how far it has read a space.
    async fn own_read(
        &self,
        space_id: SpaceId,
        read: ReadPosition,
        cards: Option<u64>,
    ) -> Result<()> {
        let now = self.clock.now();
        let connections = self.store.connections().of_entity(read.entity_id, now).await?;
        let event = Event { space_id, at: now, what: EventKind::own_read(read, cards) };
        self.send_own_event(&connections, event).await;
        Ok(())
    }

    /// Notifies the people of a space and the operator of its last message, where they do not
    /// follow the space.
    async fn show_activity(&self, space_id: SpaceId) -> Result<()> {
        let now = self.clock.now();
        let audience = match self.store.connections().audience(space_id, now).await {
            Ok(audience) => audience,
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some((last_message, cards)) = self.store.spaces().last_message(space_id).await? else {
            return Ok(());
        };
        let store = self.store.connections();
        let roster = &audience.roster;
        let people = roster.members.iter().filter(|member| member.kind == EntityType::Human);
        let people: Vec<_> = people.map(|person| person.entity_id).collect();
        let found = stream::iter(people)
            .map(|person| store.of_entity(person, now))
            .buffer_unordered(READ_AT_ONCE)
            .try_collect::<Vec<_>>();
        let (found, of_operator) = futures::try_join!(found, store.of_operator(now))?;
        let follows: BTreeSet<_> = audience.connections.iter().map(|it| &it.id).collect();
        let connections: Vec<_> = found
            .into_iter()
            .chain([of_operator])
            .flatten()
            .filter(|connection| !connection.is_protocol && !follows.contains(&connection.id))
            .collect();
        let seq = last_message.seq;
        let what = EventKind::SpaceActivity { last_message, seq, cards };
        self.send_own_event(&connections, Event { space_id, at: now, what }).await;
        Ok(())
    }

    async fn send_own_event(&self, connections: &[ConnectionRecord], event: Event) {
        let frame: Arc<str> = event.to_frame().into();
        let now = self.clock.now();
        let posts = connections.iter().map(|connection| {
            send_own_frame(&self.store, &*self.sockets, connection, Arc::clone(&frame), now)
        });
        join_all(posts).await;
    }
}

impl std::fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broadcast").finish_non_exhaustive()
    }
}
