//! The subscriptions of connections to spaces, and the connections to notify of an event.

use std::sync::Arc;

use smartspace_domain::{
    Time,
    access::Caller,
    ids::{ConnectionId, EntityId, SpaceId},
};

use crate::{
    Connections, Error, Result,
    connections::ConnectionRecord,
    spaces::rosters::{Head, Roster, no_such_space},
    table::{Query, WriteError, key_of, keys, read, write::Write},
};

/// The subscribers and the roster of a space, read together, since only members are notified.
#[derive(Clone, Debug)]
pub struct Audience {
    /// The connections to notify.
    pub connections: Vec<ConnectionRecord>,
    /// The connections whose credential has expired.
    pub expired: Vec<ConnectionId>,
    /// The roster of the space.
    pub roster: Arc<Roster>,
}

impl Connections<'_> {
    /// Subscribes a connection to a space.
    pub async fn subscribe(self, connection: &ConnectionRecord, space: SpaceId) -> Result<()> {
        let writes = [
            Write::check(keys::connection_meta(&connection.id)).when("attribute_exists(PK)"),
            Write::put(keys::subscription(space, &connection.id), connection)?,
            Write::put(keys::follows(&connection.id, space), connection)?,
        ];
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(_)) => {
                Err(Error::Unauthenticated("the connection is closed".into()))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Ends a subscription, if it exists.
    pub async fn unsubscribe(self, id: &ConnectionId, space: SpaceId) -> Result<()> {
        let writes =
            [Write::delete(keys::subscription(space, id)), Write::delete(keys::follows(id, space))];
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(_)) => {
                Err(Error::Internal("a delete without a condition was refused".into()))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// The connections to notify of an event in a space. One read gives the subscriptions and the
    /// version of the roster. The roster itself is read again only if its version has changed.
    pub async fn audience(self, space: SpaceId, now: Time) -> Result<Audience> {
        let head = keys::space_head(space).sk;
        let mut connections = Vec::new();
        let mut version = None;
        for item in
            self.store.table.all(Query::of(keys::space(space)).between(keys::CONN, &head)).await?
        {
            let sk = key_of(&item)?.sk;
            if sk == head {
                version = Some(read::<Head>(item)?.roster);
            } else if sk.starts_with(keys::CONN) {
                connections.push(read::<ConnectionRecord>(item)?);
            }
        }
        let version = version.ok_or_else(no_such_space)?;
        let roster = match self.store.rosters.last_seen(space) {
            Some(seen) if seen.head.roster == version => seen,
            _ => self.store.members().roster(space).await?,
        };
        let (mut connections, expired): (Vec<_>, Vec<_>) =
            connections.into_iter().partition(|connection| connection.valid_until > now);
        connections.retain(|connection| match connection.caller {
            Caller::Operator => true,
            Caller::Entity(entity) => roster.member(entity).is_some(),
        });
        Ok(Audience {
            connections,
            expired: expired.into_iter().map(|connection| connection.id).collect(),
            roster,
        })
    }

    /// All connections that are subscribed to a space.
    pub async fn followers(self, space: SpaceId) -> Result<Vec<ConnectionRecord>> {
        self.store
            .table
            .all(Query::of(keys::space(space)).begins_with(keys::CONN))
            .await?
            .into_iter()
            .map(read)
            .collect()
    }

    /// The connections of an entity that are subscribed to a space.
    pub async fn followers_of(self, space: SpaceId, entity: EntityId) -> Result<Vec<ConnectionId>> {
        let followers = self.followers(space).await?.into_iter();
        Ok(followers
            .filter(|connection| connection.caller == Caller::Entity(entity))
            .map(|connection| connection.id)
            .collect())
    }
}
