//! The subscriptions of connections to spaces, and the connections to notify of an event.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{ConnectionId, EntityId, SpaceId},
};

use crate::{
    Connections, Error, Result,
    connections::ConnectionRecord,
    shared::space::no_such_space,
    spaces::rosters::{Head, Roster},
    table::{Query, WriteError, key_of, keys, read, refusal::Refusal, write::Write},
};

/// Only the newest frame of a connection about a space counts.
const IS_NEWER: &str = "attribute_not_exists(#n) OR #n < :n";

/// The connection's own item of a subscription. If frames carry a counter, an `unsubscribe` leaves
/// the item with `left` until the connection expires, so that an older `subscribe` finds its
/// counter.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FollowRecord {
    #[serde(flatten)]
    connection: ConnectionRecord,
    /// The counter of the newest frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    /// Whether the newest frame was `unsubscribe`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) left: bool,
}

/// The subscribers and the roster of a space, read together, since only members are notified.
#[derive(Clone, Debug)]
pub struct Audience {
    pub connections: Vec<ConnectionRecord>,
    /// The connections whose credential has expired.
    pub expired: Vec<ConnectionId>,
    /// The roster of the space.
    pub roster: Arc<Roster>,
}

/// Whether a frame was applied.
enum Applied {
    Yes,
    /// A newer frame was applied before, or this frame itself: its answer was lost.
    Older {
        follows: bool,
    },
    Closed,
}

impl Applied {
    fn by(refusal: &Refusal, connection: &ConnectionRecord, space: SpaceId) -> Result<Self> {
        if refusal.names(&keys::connection_meta(&connection.id)) {
            return Ok(Self::Closed);
        }
        let existing: Option<FollowRecord> =
            refusal.existing(&keys::follows(&connection.id, space));
        let unknown = || Error::Internal("a newer frame can't be read".into());
        existing.map(|existing| Self::Older { follows: !existing.left }).ok_or_else(unknown)
    }
}

impl Connections<'_> {
    /// Subscribes a connection to a space, unless a newer frame has been applied: `n` is the
    /// counter of the frame, if it has one. Returns whether the connection follows the space now.
    pub async fn subscribe(
        self,
        connection: &ConnectionRecord,
        space: SpaceId,
        n: Option<u64>,
    ) -> Result<bool> {
        let id = &connection.id;
        let subscription = Write::put(keys::subscription(space, id), connection)?;
        match self.apply(connection, space, subscription, n, false).await? {
            Applied::Yes => Ok(true),
            Applied::Older { follows } => Ok(follows),
            Applied::Closed => Err(Error::Unauthenticated("the connection is closed".into())),
        }
    }

    /// Ends a subscription, unless a newer frame than `n` has been applied. Returns whether the
    /// connection follows the space now.
    pub async fn unsubscribe_at(
        self,
        connection: &ConnectionRecord,
        space: SpaceId,
        n: u64,
    ) -> Result<bool> {
        let subscription = Write::delete(keys::subscription(space, &connection.id));
        match self.apply(connection, space, subscription, Some(n), true).await? {
            Applied::Yes | Applied::Closed => Ok(false),
            Applied::Older { follows } => Ok(follows),
        }
    }

    /// Changes a subscription together with the connection's own item of it.
    async fn apply(
        self,
        connection: &ConnectionRecord,
        space: SpaceId,
        subscription: Write,
        n: Option<u64>,
        left: bool,
    ) -> Result<Applied> {
        let follows = keys::follows(&connection.id, space);
        let record = FollowRecord { connection: connection.clone(), n, left };
        let mut own = Write::put(follows, &record)?;
        if let Some(n) = n {
            own = own.when(IS_NEWER).value(":n", n)?;
        }
        let meta = Write::check(keys::connection_meta(&connection.id));
        let writes = [meta.when("attribute_exists(PK)"), subscription, own];
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(Applied::Yes),
            Err(WriteError::Refused(refusal)) => Applied::by(&refusal, connection, space),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Ends a subscription, if it exists, and forgets the counter of its frames.
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
        let roster = self.store.members().roster_of(space, version).await?;
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
