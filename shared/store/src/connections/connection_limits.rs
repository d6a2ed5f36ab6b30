//! The limits of connections: how many of an entity's own may subscribe, and how many may follow a
//! space.
//!
//! The counter of a space's followers only grows, by one for each subscription, so it is never less
//! than their number. When it reaches the limit, the followers are counted again. No departure has
//! to be counted, and connections that died silently do not keep a space full.

use std::time::Duration;

use serde::Deserialize;
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{ConnectionId, EntityId, SpaceId},
    limits, rates,
};

use crate::{
    Connections, Result,
    connections::{ConnectionRecord, subscriptions::FollowRecord},
    table::{Query, WriteError, keys, read, write::Write},
};

/// How long the counter is stored after the last subscription: longer than any connection lasts.
const STORED_FOR: Duration = Duration::from_hours(3);
/// How often a counter that another process has just set is looked at again.
const TRIES: usize = 3;
/// The greatest number of an entity's connections that are read to rank one of them.
const READ_OF_ENTITY: usize = 100;

#[derive(Debug, Deserialize)]
struct CounterItem {
    count: usize,
}

/// Whether a connection may follow a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayFollow {
    /// It may. The space has at most so many followers, itself included.
    Yes(usize),
    /// The space has as many followers as it may have. Try again after this time.
    Full(Duration),
}

/// The counter after an attempt to add one.
enum Counted {
    Added(usize),
    Full(usize),
}

impl Connections<'_> {
    /// Counts a connection as a follower of a space, before it subscribes. Connections that
    /// subscribe at the moment of a recount may exceed the limit.
    pub async fn count_follower(
        self,
        connection: &ConnectionId,
        space: SpaceId,
        now: Time,
    ) -> Result<MayFollow> {
        for _ in 0..TRIES {
            let counted = match self.add_follower(space, now).await? {
                Counted::Added(count) => return Ok(MayFollow::Yes(count)),
                Counted::Full(counted) => counted,
            };
            let follows: Option<FollowRecord> =
                self.store.table.get(&keys::follows(connection, space)).await?;
            if follows.is_some_and(|follows| !follows.left) {
                return Ok(MayFollow::Yes(counted));
            }
            let who = format!("followers of {space}");
            if let Err(wait) = self.store.rates().count_call(&who, rates::RECOUNTS, now).await {
                return Ok(MayFollow::Full(wait));
            }
            let followers = self.followers(space).await?.into_iter();
            let live = followers.filter(|follower| follower.valid_until > now).count();
            self.set_followers(space, counted, live).await?;
            if live >= limits::FOLLOWERS {
                return Ok(MayFollow::Full(rates::RECOUNTS.token()));
            }
        }
        Ok(MayFollow::Full(rates::RECOUNTS.token()))
    }

    /// Adds one to the counter, unless it has reached the limit.
    async fn add_follower(self, space: SpaceId, now: Time) -> Result<Counted> {
        let write =
            Write::count(keys::followers(space), "SET #expiresAt = :expires ADD #count :one")
                .when("attribute_not_exists(#count) OR #count < :most")
                .value(":expires", (now + STORED_FOR).as_seconds())?
                .value(":one", 1)?
                .value(":most", limits::FOLLOWERS)?;
        match self.store.table.write(write).await {
            Ok(item) => {
                let counter = item.map(read::<CounterItem>).transpose()?;
                Ok(Counted::Added(counter.map_or(limits::FOLLOWERS, |counter| counter.count)))
            }
            Err(WriteError::Refused(refusal)) => {
                let existing = refusal.existing::<CounterItem>(&keys::followers(space));
                Ok(Counted::Full(existing.map_or(limits::FOLLOWERS, |counter| counter.count)))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Sets the counter to the number of followers, unless another process has done it since.
    async fn set_followers(self, space: SpaceId, counted: usize, live: usize) -> Result<()> {
        let write = Write::update(keys::followers(space), "SET #count = :live")
            .when("#count = :counted")
            .value(":live", live)?
            .value(":counted", counted)?;
        self.store.table.write_where_it_holds(write).await
    }

    /// The connections of the same entity and kind (of protocols, or others) that were opened
    /// before this one and are not closed, in the order of their opening. The operator's
    /// connections are not counted. An entity with very many connections gets some of them,
    /// whatever their age and kind.
    pub async fn older_than(
        self,
        connection: &ConnectionRecord,
        now: Time,
    ) -> Result<Vec<ConnectionId>> {
        let Caller::Entity(entity) = connection.caller else { return Ok(Vec::new()) };
        let age = |record: &ConnectionRecord| (record.opened_at, record.id.0.clone());
        let mut older = self.some_of_entity(entity).await?;
        let all_read = older.len() < READ_OF_ENTITY;
        let counts = |other: &ConnectionRecord| {
            other.is_protocol == connection.is_protocol && age(other) < age(connection)
        };
        older.retain(|other| other.valid_until > now && (!all_read || counts(other)));
        older.sort_by_key(age);
        Ok(older.into_iter().map(|record| record.id).collect())
    }

    /// Up to [`READ_OF_ENTITY`] connections of an entity.
    async fn some_of_entity(self, entity: EntityId) -> Result<Vec<ConnectionRecord>> {
        let query = Query::of(keys::entity(entity)).begins_with(keys::CONN).limit(READ_OF_ENTITY);
        self.store.table.all(query).await?.into_iter().map(read).collect()
    }
}
