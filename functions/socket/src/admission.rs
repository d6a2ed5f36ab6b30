//! The limits of the WebSocket API: frames of a connection, connections of an entity, followers of
//! a space.

use std::time::Duration;

use futures::future::{join, join_all};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    ids::{ConnectionId, EntityId, SpaceId},
    limits, rates,
};
use smartspace_pipeline::frames::{Goodbye, close};
use smartspace_ports::sockets::CloseCode;
use smartspace_store::{
    connections::{ConnectionRecord, MayFollow},
    limits::frames::FrameCount,
};

use crate::{
    Socket,
    requests::{Action, Request},
};

/// When a client that has been closed for sending too much may connect again.
const CLOSED_FOR: Duration = Duration::from_secs(10);
/// When a client whose entity has too many connections may subscribe again.
const CROWDED_FOR: Duration = Duration::from_mins(1);

/// The last frame of a protocol's connection that a newer one replaces.
const REPLACED: Goodbye = Goodbye {
    code: CloseCode::Normal,
    reason: "a newer call of this entity follows the space",
    retry_after: None,
};

/// The last frame of a connection that nobody uses. A client that still needs it connects again.
const IDLE: Goodbye = Goodbye {
    code: CloseCode::TooMany,
    reason: "the connection follows no space and sends nothing",
    retry_after: None,
};

impl Socket {
    /// Counts a frame, even one that can't be parsed.
    pub(crate) async fn count_frame(&self, id: &ConnectionId, request: &Request) -> FrameCount {
        let tokens = match &request.action {
            Ok(Action::Subscribe { .. } | Action::Snapshot { .. }) => limits::SUBSCRIBE_TOKENS,
            // As many as single frames about presence.
            Ok(Action::Ping { present, .. }) => present.len().max(1) as u32,
            _ => 1,
        };
        self.count_tokens(id, tokens).await
    }

    /// Counts a frame that costs this much.
    pub(crate) async fn count_tokens(&self, id: &ConnectionId, tokens: u32) -> FrameCount {
        if !self.pipeline.is_rate_limited {
            return FrameCount::Allowed;
        }
        let rates = self.pipeline.store.rates();
        rates.count_frame(id, rates::FRAMES, tokens, self.pipeline.now()).await
    }

    /// Answers a frame too many, and closes the connection if it goes on like this.
    pub(crate) async fn refuse_frame(
        &self,
        id: &ConnectionId,
        request: Option<&Value>,
        wait: Duration,
        in_a_row: u32,
    ) -> Result<()> {
        if in_a_row < limits::REFUSED_FRAMES {
            let error = Error::TooMany {
                text: format!(
                    "too many frames: the limit of a connection is {} per second and {} at once, \
                     `subscribe` and `snapshot` count as {} each, and a ping as one for each space \
                     in `present`",
                    rates::FRAMES.per_second,
                    rates::FRAMES.burst,
                    limits::SUBSCRIBE_TOKENS
                ),
                wait,
            };
            self.answer_error(id, request, &error).await;
            return Ok(());
        }
        self.close_for_frames(id).await
    }

    pub(crate) async fn close_for_frames(&self, id: &ConnectionId) -> Result<()> {
        tracing::info!(connection = %id, "a connection that sends too many frames is closed");
        let goodbye = Goodbye {
            code: CloseCode::TooMany,
            reason: "too many frames",
            retry_after: Some(CLOSED_FOR),
        };
        close(&self.pipeline.store, &*self.sockets, id, &goodbye).await
    }

    pub(crate) async fn end_idle(&self, id: &ConnectionId) -> Result<()> {
        let store = &self.pipeline.store;
        if store.connections().spaces_of(id).await?.is_empty() {
            tracing::info!(connection = %id, "an idle connection that follows no space is closed");
            close(store, &*self.sockets, id, &IDLE).await?;
        }
        Ok(())
    }

    /// Checks that a connection may subscribe to a space, and counts it as a follower. Returns how
    /// many followers the space has at most, if they are counted.
    pub(crate) async fn admit(
        &self,
        connection: &ConnectionRecord,
        space: SpaceId,
    ) -> Result<Option<usize>> {
        let store = &self.pipeline.store;
        match connection.caller {
            // The operator may follow any space, but only one that exists.
            Caller::Operator => store.spaces().record(space).await.map(drop)?,
            Caller::Entity(entity) => {
                let (may_read, is_one_of_few) = join(
                    self.pipeline.authorise(connection.caller, SpaceAction::Read, space),
                    self.check_connections_of(entity, connection, space),
                )
                .await;
                may_read?;
                is_one_of_few?;
            }
        }
        if !self.pipeline.is_rate_limited {
            return Ok(None);
        }
        let now = self.pipeline.now();
        match store.connections().count_follower(&connection.id, space, now).await? {
            MayFollow::Yes(followers) => Ok(Some(followers)),
            MayFollow::Full(wait) => Err(Error::TooMany {
                text: format!("the space has {} followers, which is the limit", limits::FOLLOWERS),
                wait,
            }),
        }
    }

    /// Checks that the entity has fewer older connections than it may have. Connections that died
    /// silently are deleted when they would be in the way, and a newer connection of a protocol
    /// replaces an older one in the same space.
    async fn check_connections_of(
        &self,
        entity: EntityId,
        connection: &ConnectionRecord,
        space: SpaceId,
    ) -> Result<()> {
        if !self.pipeline.is_rate_limited {
            return Ok(());
        }
        let store = &self.pipeline.store;
        let now = self.pipeline.now();
        let older = store.connections().older_than(connection, now).await?;
        let most = if connection.is_protocol {
            self.call_limits.waits
        } else {
            limits::CONNECTIONS_OF_ENTITY
        };
        if older.len() < most || connection.is_protocol && self.replaced(&older, space).await? {
            return Ok(());
        }
        let who = format!("connections of {entity}");
        if store.rates().count_call(&who, rates::RECOUNTS, now).await.is_ok() {
            let open = join_all(older.iter().map(|id| self.is_open(id))).await;
            if open.into_iter().filter(|open| *open).count() < most {
                return Ok(());
            }
        }
        Err(if connection.is_protocol {
            Error::TooMany {
                text: self.call_limits.too_many_waits(),
                wait: limits::CALLS_RETRY_AFTER,
            }
        } else {
            let text = format!(
                "only the {most} oldest open connections of an entity may subscribe; close some of \
                 them"
            );
            Error::TooMany { text, wait: CROWDED_FOR }
        })
    }

    /// Closes the oldest of these connections that follows the space, if one does. On AWS a
    /// function is not notified when its client leaves, so a page that is loaded again and again
    /// would use up the calls of its reader.
    async fn replaced(&self, older: &[ConnectionId], space: SpaceId) -> Result<bool> {
        let connections = self.pipeline.store.connections();
        for id in older {
            if connections.follows(id, space).await? {
                close(&self.pipeline.store, &*self.sockets, id, &REPLACED).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a connection is open. One that is not is deleted.
    async fn is_open(&self, id: &ConnectionId) -> bool {
        let is_open = self.sockets.is_open(id).await;
        if !is_open && let Err(error) = self.disconnect(id).await {
            tracing::warn!(connection = %id, %error, "a closed connection could not be deleted");
        }
        is_open
    }
}
