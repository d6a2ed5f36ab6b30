//! Snapshots on demand: in a large room a connection asks for the text that agents are writing.
//!
//! A request is stored in the subscription, and in the item `STREAMS#s` of its space. A run that
//! writes reads that small item each second, and reads the subscriptions again only after a
//! request.

use std::time::Duration;

use serde::Deserialize;
use smartspace_domain::{
    Time,
    ids::{ConnectionId, SpaceId},
};

use tokio::time::Instant;

use crate::{
    Connections, Error, Result,
    connections::subscriptions::FollowRecord,
    table::{Query, WriteError, key_of, keys, read, write::Write},
};

/// How long a request is stored. A stream that did not see it within seconds never needs it.
const STORED_FOR: Duration = Duration::from_hours(1);

/// Within this time of a request, further ones are not stored in the space: many connections ask at
/// the same moment, and a partition takes a thousand writes a second. It is half of the time
/// between two reads of a stream, which reads the subscriptions twice for each request.
const REQUESTS_TOGETHER: Duration = Duration::from_millis(400);

/// The snapshots that connections asked for in a space. A change means that somebody asked again,
/// and others may have done so shortly after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotRequests {
    /// How many requests were stored. The clocks of processes differ, so a time would not do.
    #[serde(default)]
    asks: u64,
    /// The time of the last of them.
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
        let began = Instant::now();
        // Not one transaction: many connections ask at the same moment, and transactions on one
        // item refuse each other. The run reads the subscriptions after it has seen the request.
        let request = Write::update(keys::subscription(space, connection), "SET #askedAt = :now")
            .value(":now", now)?;
        match self.store.table.write(request).await {
            Ok(_) => {}
            Err(WriteError::Refused(_)) => {
                return Err(Error::NotFound("the connection does not follow this space".into()));
            }
            Err(WriteError::Other(error)) => return Err(error),
        }
        // A stream reads the subscription only after it is written, which may take a while.
        let now = now + began.elapsed();
        let last = self.snapshot_requests(space).await?;
        let apart = now.since(last.snap_at).max(last.snap_at.since(now));
        if apart < REQUESTS_TOGETHER {
            return Ok(());
        }
        let set = "SET #snapAt = :now, #expiresAt = :expires ADD #asks :one";
        let raises = Write::count(keys::streams(space), set)
            .value(":now", now)?
            .value(":expires", (now + STORED_FOR).as_seconds())?
            .value(":one", 1)?;
        self.store.table.write_always(raises).await
    }

    /// The snapshots that connections have asked for in a space.
    pub async fn snapshot_requests(self, space: SpaceId) -> Result<SnapshotRequests> {
        Ok(self.store.table.get(&keys::streams(space)).await?.unwrap_or_default())
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
