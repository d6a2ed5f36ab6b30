//! Read positions: what a person marks as read.

use axum::http::Method;
use serde_json::json;
use smartspace_domain::ids::{ConnectionId, SpaceId};

use crate::{client::Caller, ledger::MovedRead, locked, people::Person};

impl Person {
    /// The open connection of the person.
    pub(crate) fn open_connection(&self) -> Option<&ConnectionId> {
        self.connection.as_ref().filter(|id| self.deployment.env.connections.is_open(id))
    }

    /// Marks everything as read that it has seen.
    pub async fn mark_all_read(&self) {
        let spaces = locked(&self.deployment.env.ledger).spaces.clone();
        for space in spaces {
            self.mark_read(space).await;
        }
    }

    /// The stored read position, or `None` if the person is not a member.
    fn read_seq(&self, space: SpaceId) -> Option<u64> {
        let items = self.deployment.env.storage.items();
        let pk = format!("SPACE#{space}");
        let sk = format!("MEMBER#{}", self.id);
        let member = items.iter().find(|item| item["PK"] == *pk && item["SK"] == *sk)?;
        Some(member["readSeq"].as_u64().unwrap_or(0))
    }

    /// Marks what it has seen of a space as read.
    pub(super) async fn mark_read(&self, space: SpaceId) {
        let seq = self.view.with(|seen| seen.contiguous(&space.to_string()));
        let before = self.read_seq(space);
        if before.is_none_or(|before| before >= seq) {
            return;
        }
        let answer = self
            .deployment
            .http_with_retries(
                &self.name,
                Caller::Entity(self.id),
                Method::PUT,
                &format!("/v1/spaces/{space}/read"),
                None,
                Some(&json!({ "seq": seq })),
            )
            .await;
        // What moved before the calm may have got lost on its way to a follower.
        let is_calm = self.deployment.env.calm_since().is_some();
        if is_calm && answer.is_some_and(|(status, read)| status == 200 && read["seq"] == seq) {
            self.deployment.env.history.note(&self.name, || format!("has read {seq} of {space}"));
            let moved = MovedRead { space, entity: self.id, seq };
            locked(&self.deployment.env.ledger).moved_reads.push(moved);
        }
    }
}
