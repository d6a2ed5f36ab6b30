//! Snapshots on demand: in a large room a connection asks for the text that agents are writing.
//!
//! An ask is noted in the subscription, and in the item `STREAMS#s` of its space. A run that writes
//! reads that small item each second, and reads the subscriptions again only after an ask.

use std::time::Duration;

use serde::Deserialize;
use smartspace_domain::{
    Time,
    ids::{ConnectionId, SpaceId},
};

use crate::{
    Connections, Error, Result,
    connections::subscriptions::FollowRecord,
    table::{Query, WriteError, key_of, keys, read, write::Write},
};

/// How long an ask is stored. A stream that did not see it within seconds never needs it.
const STORED_FOR: Duration = Duration::from_hours(1);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StreamsItem {
    snap_at: Time,
}

impl Connections<'_> {
    /// Asks for a snapshot of what agents are writing in a space. Fails with [`Error::NotFound`] if
    /// the connection does not follow the space.
    pub async fn ask_for_snapshot(
        self,
        connection: &ConnectionId,
        space: SpaceId,
        now: Time,
    ) -> Result<()> {
        // Not one transaction: many connections ask at the same moment, and transactions on one
        // item refuse each other. The run reads the subscriptions after it has seen the ask.
        let asks = Write::update(keys::subscription(space, connection), "SET #askedAt = :now")
            .value(":now", now)?;
        match self.store.table.write(asks).await {
            Ok(_) => {}
            Err(WriteError::Refused(_)) => {
                return Err(Error::NotFound("the connection does not follow this space".into()));
            }
            Err(WriteError::Other(error)) => return Err(error),
        }
        let raises =
            Write::count(keys::streams(space), "SET #snapAt = :now, #expiresAt = :expires")
                .value(":now", now)?
                .value(":expires", (now + STORED_FOR).as_seconds())?;
        self.store.table.write_always(raises).await
    }

    /// When a connection last asked for a snapshot in a space. Another time means another ask:
    /// clocks of processes differ, so it may be an earlier time.
    pub async fn snapshot_asked_at(self, space: SpaceId) -> Result<Option<Time>> {
        let item: Option<StreamsItem> = self.store.table.get(&keys::streams(space)).await?;
        Ok(item.map(|item| item.snap_at))
    }

    /// The spaces that a connection follows.
    pub async fn spaces_of(self, id: &ConnectionId) -> Result<Vec<SpaceId>> {
        let query = Query::of(keys::connection(id)).begins_with(keys::FOLLOWS);
        let mut spaces = Vec::new();
        for item in self.store.table.all(query).await? {
            let key = key_of(&item)?;
            if !read::<FollowRecord>(item)?.left {
                spaces.extend(
                    key.sk.strip_prefix(keys::FOLLOWS).and_then(|id| id.parse::<SpaceId>().ok()),
                );
            }
        }
        Ok(spaces)
    }
}
