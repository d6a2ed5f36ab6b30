//! WebSocket connections: the tickets that open them, and their subscriptions to spaces.

mod connection_limits;
pub mod presence;
mod snapshots;
mod subscriptions;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{ConnectionId, EntityId, SpaceId},
};

pub use self::{
    connection_limits::MayFollow, snapshots::SnapshotRequests, subscriptions::Audience,
};
use crate::{
    Connections, Result,
    entities::not_retired,
    table::{Query, WriteError, key_of, keys, read, write::Write},
};

/// A ticket, which opens one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    #[serde(deserialize_with = "Caller::read_stored")]
    pub caller: Caller,
    /// When it expires.
    pub valid_until: Time,
    /// When the credential that the ticket was made with expires. The connection lasts no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_until: Option<Time>,
    /// Whether the connection serves a client of another protocol.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_protocol: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TicketRecord {
    #[serde(flatten)]
    ticket: Ticket,
    expires_at: i64,
}

/// A connection, or one of its subscriptions, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionRecord {
    pub id: ConnectionId,
    /// The caller that opened it.
    #[serde(deserialize_with = "Caller::read_stored")]
    pub caller: Caller,
    /// When its handshake began.
    #[serde(default)]
    pub opened_at: Time,
    /// When its credential expires.
    pub valid_until: Time,
    /// When the item expires, in seconds since the epoch.
    pub expires_at: i64,
    /// When the connection last asked for a snapshot of what agents write. Only subscriptions have
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Time>,
    /// Whether it serves a client of another protocol.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_protocol: bool,
}

/// The spaces in which a deleted connection was present, until their followers get the change.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WasPresent {
    spaces: Vec<SpaceId>,
    expires_at: i64,
}

impl WasPresent {
    fn add(&mut self, spaces: Vec<SpaceId>, expires_at: i64) {
        self.spaces.extend(spaces);
        self.expires_at = self.expires_at.max(expires_at);
    }
}

impl Connections<'_> {
    /// Stores a ticket under its name.
    pub async fn store_ticket(self, name: &str, ticket: Ticket) -> Result<()> {
        let record = TicketRecord { ticket, expires_at: ticket.valid_until.as_seconds() + 1 };
        self.store.table.write_always(Write::put(keys::ticket(name), &record)?).await
    }

    /// Opens a connection with a ticket, which is then used up. Returns `None` if the ticket is
    /// unknown, used or expired, or if its entity is retired.
    pub async fn connect(
        self,
        ticket: &str,
        id: &ConnectionId,
        valid_for: std::time::Duration,
        now: Time,
    ) -> Result<Option<ConnectionRecord>> {
        let used = Write::delete(keys::ticket(ticket)).when("attribute_exists(PK)");
        let ticket = match self.store.table.write(used).await {
            Ok(Some(item)) => read::<TicketRecord>(item)?.ticket,
            Ok(None) | Err(WriteError::Refused(_)) => return Ok(None),
            Err(WriteError::Other(error)) => return Err(error),
        };
        let lasts = now + valid_for;
        let valid_until = ticket.credential_until.map_or(lasts, |until| until.min(lasts));
        if ticket.valid_until < now || valid_until <= now {
            return Ok(None);
        }
        let expires_at = valid_until.as_seconds() + 60;
        let record = ConnectionRecord {
            id: id.clone(),
            caller: ticket.caller,
            opened_at: now,
            valid_until,
            expires_at,
            asked_at: None,
            is_protocol: ticket.is_protocol,
        };
        let mut writes = vec![Write::put(keys::connection_meta(id), &record)?];
        writes.push(Write::put(own_key(record.caller, id), &record)?);
        if let Caller::Entity(entity) = record.caller {
            writes.push(not_retired(entity));
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(Some(record)),
            Err(WriteError::Refused(_)) => Ok(None),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// An entity's own connections whose credential is valid.
    pub async fn of_entity(self, entity: EntityId, now: Time) -> Result<Vec<ConnectionRecord>> {
        self.own(keys::entity(entity), now).await
    }

    /// The operator's connections whose credential is valid.
    pub async fn of_operator(self, now: Time) -> Result<Vec<ConnectionRecord>> {
        self.own(keys::OPERATOR.to_owned(), now).await
    }

    async fn own(self, partition: String, now: Time) -> Result<Vec<ConnectionRecord>> {
        let items = self.store.table.all(Query::of(partition).begins_with(keys::CONN)).await?;
        let records =
            items.into_iter().map(read::<ConnectionRecord>).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().filter(|connection| connection.valid_until > now).collect())
    }

    /// A connection, or `None` if it is closed or its credential has expired.
    pub async fn get(self, id: &ConnectionId, now: Time) -> Result<Option<ConnectionRecord>> {
        let record: Option<ConnectionRecord> =
            self.store.table.get(&keys::connection_meta(id)).await?;
        Ok(record.filter(|record| record.valid_until > now))
    }

    /// Deletes a connection and its subscriptions. Returns the spaces in which it was present.
    pub async fn disconnect(self, id: &ConnectionId) -> Result<Vec<SpaceId>> {
        Ok(self.delete(id).await?.spaces)
    }

    /// Deletes a connection for a caller that does not notify the followers of its spaces. The
    /// next caller that deletes it, because its socket closes, gets these spaces.
    pub async fn disconnect_deferring_presence(self, id: &ConnectionId) -> Result<()> {
        let was = self.delete(id).await?;
        if was.spaces.is_empty() {
            return Ok(());
        }
        self.store.table.write_always(Write::put(keys::was_present(id), &was)?).await
    }

    async fn delete(self, id: &ConnectionId) -> Result<WasPresent> {
        let meta = keys::connection_meta(id);
        let mut was = WasPresent::default();
        for item in self.store.table.all(Query::of(keys::connection(id))).await? {
            let key = key_of(&item)?;
            if key == keys::was_present(id) {
                let before: WasPresent = read(item)?;
                was.add(before.spaces, before.expires_at);
                self.store.table.write_always(Write::delete(key)).await?;
            } else if let Some(space) =
                key.sk.strip_prefix(keys::FOLLOWS).and_then(|space| space.parse().ok())
            {
                self.unsubscribe(id, space).await?;
                if self.forget_presence(id, space).await? {
                    was.spaces.push(space);
                }
            } else if key == meta {
                let record: ConnectionRecord = read(item)?;
                was.add(Vec::new(), record.expires_at);
                let own = Write::delete(own_key(record.caller, id));
                self.store.table.write_always(own).await?;
            }
        }
        self.store.table.write_always(Write::delete(meta)).await?;
        Ok(was)
    }
}

/// The item of a connection beside those of its caller.
fn own_key(caller: Caller, id: &ConnectionId) -> keys::Key {
    match caller {
        Caller::Operator => keys::operators_connection(id),
        Caller::Entity(entity) => keys::own_connection(entity, id),
    }
}
