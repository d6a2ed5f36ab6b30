//! Sockets: tickets that open one, connections, and what they follow.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{ConnectionId, EntityId, SpaceId},
};

use crate::{
    Error, Result, Store, keys,
    rosters::{Head, Roster, no_such_space},
    table::{Query, WriteError, key_of, read},
    write::Write,
};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TicketRecord {
    caller: Caller,
    valid_until: Time,
    /// When the credential that it was made with expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credential_until: Option<Time>,
    expires_at: i64,
}

/// A connection, or one of its subscriptions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionRecord {
    /// Its id.
    pub id: ConnectionId,
    /// Whose it is.
    pub caller: Caller,
    /// When its handshake began.
    #[serde(default)]
    pub opened_at: Time,
    /// When its credential expires.
    pub valid_until: Time,
    /// When the item is dropped.
    pub expires_at: i64,
}

/// Who follows a space, and who is in it, read together: only members are told.
#[derive(Clone, Debug)]
pub struct Audience {
    /// Connections that may be told now.
    pub connections: Vec<ConnectionRecord>,
    /// Connections whose credential has expired.
    pub expired: Vec<ConnectionId>,
    /// Who is in the space.
    pub roster: Arc<Roster>,
}

impl Store {
    /// Keeps a ticket that opens one socket until `valid_until`; the socket lasts no longer than the credential that it was made with.
    pub async fn keep_ticket(&self, ticket: &str, caller: Caller, valid_until: Time, credential_until: Option<Time>) -> Result<()> {
        let record = TicketRecord { caller, valid_until, credential_until, expires_at: valid_until.as_seconds() + 1 };
        self.table.write_always(Write::put(keys::ticket(ticket), &record)?).await
    }

    /// Opens a connection with a ticket, which is used up by it. None where the ticket is unknown, used or too old, or its entity retired.
    pub async fn connect(
        &self,
        ticket: &str,
        id: &ConnectionId,
        valid_for: std::time::Duration,
        now: Time,
    ) -> Result<Option<ConnectionRecord>> {
        let used = Write::delete(keys::ticket(ticket)).when("attribute_exists(PK)");
        let ticket = match self.table.write(used).await {
            Ok(Some(item)) => read::<TicketRecord>(item)?,
            Ok(None) | Err(WriteError::Refused(_)) => return Ok(None),
            Err(WriteError::Other(error)) => return Err(error),
        };
        let lasts = now + valid_for;
        let valid_until = ticket.credential_until.map_or(lasts, |until| until.min(lasts));
        if ticket.valid_until < now || valid_until <= now {
            return Ok(None);
        }
        let expires_at = valid_until.as_seconds() + 60;
        let record = ConnectionRecord { id: id.clone(), caller: ticket.caller, opened_at: now, valid_until, expires_at };
        let mut writes = vec![Write::put(keys::connection_meta(id), &record)?];
        if let Caller::Entity(entity) = record.caller {
            writes.push(Write::put(keys::own_connection(entity, id), &record)?);
            writes.push(Write::check(keys::entity_meta(entity)).when("attribute_exists(PK) AND attribute_not_exists(#retiredAt)"));
        }
        match self.table.transact(&writes).await {
            Ok(()) => Ok(Some(record)),
            Err(WriteError::Refused(_)) => Ok(None),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// An entity's own connections that may be told now.
    pub async fn connections_of(&self, entity: EntityId, now: Time) -> Result<Vec<ConnectionRecord>> {
        let items = self.table.all(Query::of(keys::entity(entity)).begins_with(keys::CONN)).await?;
        let records = items.into_iter().map(read::<ConnectionRecord>).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().filter(|connection| connection.valid_until > now).collect())
    }

    /// A connection; none where it is closed or its credential has expired.
    pub async fn connection(&self, id: &ConnectionId, now: Time) -> Result<Option<ConnectionRecord>> {
        let record: Option<ConnectionRecord> = self.table.get(&keys::connection_meta(id)).await?;
        Ok(record.filter(|record| record.valid_until > now))
    }

    /// Lets a connection follow a space.
    pub async fn subscribe(&self, connection: &ConnectionRecord, space: SpaceId) -> Result<()> {
        let writes = [
            Write::check(keys::connection_meta(&connection.id)).when("attribute_exists(PK)"),
            Write::put(keys::subscription(space, &connection.id), connection)?,
            Write::put(keys::follows(&connection.id, space), connection)?,
        ];
        match self.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(_)) => Err(Error::Unauthenticated("the connection is closed".into())),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Ends a subscription; nothing where there is none.
    pub async fn unsubscribe(&self, id: &ConnectionId, space: SpaceId) -> Result<()> {
        let writes = [Write::delete(keys::subscription(space, id)), Write::delete(keys::follows(id, space))];
        match self.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(_)) => Err(Error::Internal("a delete without a condition was refused".into())),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Forgets a connection and all that it follows.
    pub async fn disconnect(&self, id: &ConnectionId) -> Result<()> {
        let meta = keys::connection_meta(id);
        for item in self.table.all(Query::of(keys::connection(id))).await? {
            let key = key_of(&item)?;
            if let Some(space) = key.sk.strip_prefix(keys::FOLLOWS).and_then(|space| space.parse().ok()) {
                self.unsubscribe(id, space).await?;
            } else if key == meta
                && let Caller::Entity(entity) = read::<ConnectionRecord>(item)?.caller
            {
                self.table.write_always(Write::delete(keys::own_connection(entity, id))).await?;
            }
        }
        self.table.write_always(Write::delete(meta)).await
    }

    /// Who follows a space and may be told now. One read gives the connections and the roster's version, which decides on them; who is in the
    /// space is read again only where that has changed.
    pub async fn audience(&self, space: SpaceId, now: Time) -> Result<Audience> {
        let head = keys::space_head(space).sk;
        let mut connections = Vec::new();
        let mut version = None;
        for item in self.table.all(Query::of(keys::space(space)).between(keys::CONN, &head)).await? {
            let sk = key_of(&item)?.sk;
            if sk == head {
                version = Some(read::<Head>(item)?.roster);
            } else if sk.starts_with(keys::CONN) {
                connections.push(read::<ConnectionRecord>(item)?);
            }
        }
        let version = version.ok_or_else(no_such_space)?;
        let roster = match self.rosters.last_seen(space) {
            Some(seen) if seen.head.roster == version => seen,
            _ => self.roster(space).await?,
        };
        let (mut connections, expired): (Vec<_>, Vec<_>) = connections.into_iter().partition(|connection| connection.valid_until > now);
        connections.retain(|connection| match connection.caller {
            Caller::Operator => true,
            Caller::Entity(entity) => roster.member(entity).is_some(),
        });
        Ok(Audience { connections, expired: expired.into_iter().map(|connection| connection.id).collect(), roster })
    }

    /// Connections that follow a space, whoever they belong to.
    pub async fn followers(&self, space: SpaceId) -> Result<Vec<ConnectionRecord>> {
        self.table.all(Query::of(keys::space(space)).begins_with(keys::CONN)).await?.into_iter().map(read).collect()
    }

    /// Connections of an entity that follow a space.
    pub async fn followers_of(&self, space: SpaceId, entity: EntityId) -> Result<Vec<ConnectionId>> {
        let followers = self.followers(space).await?.into_iter();
        Ok(followers.filter(|connection| connection.caller == Caller::Entity(entity)).map(|connection| connection.id).collect())
    }
}
