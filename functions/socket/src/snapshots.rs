//! The action `snapshot`: asks for the whole text of what an agent is writing.
//!
//! In a small room everyone gets a snapshot each second anyway. In a large one the run that writes
//! sends it to the connections that have asked, within a second. The run also checks that they are
//! still members.

use futures::future::try_join_all;
use smartspace_domain::{Error, Result, ids::SpaceId};
use smartspace_store::connections::ConnectionRecord;

use crate::Socket;

/// In how many spaces a request without a space asks at most.
const MAX_SPACES: usize = 5;

impl Socket {
    /// Asks for a snapshot in one space, or in all spaces that the connection follows. A stream's
    /// id does not name its space.
    pub(crate) async fn ask_for_snapshot(
        &self,
        connection: &ConnectionRecord,
        space: Option<SpaceId>,
    ) -> Result<()> {
        let connections = self.pipeline.store.connections();
        let spaces = match space {
            Some(space) => vec![space],
            None => connections.spaces_of(&connection.id).await?,
        };
        if spaces.is_empty() {
            return Err(Error::NotFound("the connection follows no space".into()));
        }
        if spaces.len() > MAX_SPACES {
            let expected = format!(
                "expected the stream's space, because the connection follows more than {MAX_SPACES}"
            );
            return Err(Error::invalid("/spaceId", expected));
        }
        let now = self.pipeline.now();
        let asks = spaces
            .into_iter()
            .map(|space| connections.ask_for_snapshot(&connection.id, space, now));
        try_join_all(asks).await.map(drop)
    }

    /// Asks for what agents are writing when a connection subscribes. `followers` is the greatest
    /// number of followers that the space may have. In a small room the streams find the connection
    /// by themselves, and this costs nothing.
    pub(crate) async fn ask_for_current_text(
        &self,
        connection: &ConnectionRecord,
        space: SpaceId,
        followers: Option<usize>,
    ) {
        let direct = self.pipeline.store.room_limits().direct;
        if followers.is_some_and(|followers| followers <= direct) {
            return;
        }
        if let Err(error) = self.ask_for_snapshot(connection, Some(space)).await {
            // The client asks again when it sees a gap.
            let connection = &connection.id;
            tracing::warn!(%connection, %space, %error, "no snapshot was asked for");
        }
    }
}
