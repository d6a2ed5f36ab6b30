//! Refreshes the followers that receive a stream. While text is sent, the version of the roster is
//! compared four times a second. The followers are read again each second in a small room, and
//! after a request for a snapshot in a large one.

use std::time::Duration;

use smartspace_domain::{
    Error,
    events::{EventKind, StreamKind},
    ids::ConnectionId,
};
use smartspace_store::connections::Audience;
use tokio::time::Instant;

use crate::streaming::{
    is_roster_fresh,
    posting::{AgentMembership, Posting},
};

/// How often the followers of a large room are read again if nobody asks: some are gone, or their
/// credentials have expired.
const AUDIENCE_VALID: Duration = Duration::from_secs(10);

impl Posting {
    /// Checks before a delta whether the roster has changed since the followers were chosen,
    /// unless that was checked just now. The head of the space shows this in one small read.
    pub(super) async fn check_roster(&mut self) -> AgentMembership {
        // Without followers nothing is shown. New followers are found and checked with the next
        // snapshot.
        if self.followers.is_empty() || self.is_roster_fresh() {
            return AgentMembership::Active;
        }
        let began = Instant::now();
        match self.deps.store.members().head(self.info.space).await {
            Ok(Some(head)) if head.roster == self.roster => {
                self.checked_at = began;
                AgentMembership::Active
            }
            Ok(None) => AgentMembership::Ended,
            Ok(Some(_)) => self.refresh().await,
            Err(_) => AgentMembership::Unknown,
        }
    }

    /// Whether the members were checked just now.
    pub(in crate::streaming) fn is_roster_fresh(&self) -> bool {
        is_roster_fresh(&self.deps, self.info.space, self.roster, self.checked_at)
    }

    /// Runs each second. A small room gets a snapshot, and a large room only if somebody has asked
    /// for one, which a small read shows.
    pub(in crate::streaming) async fn tick(&mut self) -> AgentMembership {
        if self.followers.are_many() {
            if !self.is_snapshot_requested().await && self.refreshed_at.elapsed() < AUDIENCE_VALID {
                return AgentMembership::Active;
            }
        } else if self.flush().await == AgentMembership::Ended {
            return AgentMembership::Ended;
        }
        let membership = self.refresh().await;
        if membership == AgentMembership::Unknown {
            // Connections still wait for the snapshot that they asked for.
            self.was_requested = true;
        }
        self.deliver().await;
        membership
    }

    /// Whether a client has requested a snapshot since the last check but one. The space does not
    /// record a request right after another one, so each new request makes two checks return true.
    async fn is_snapshot_requested(&mut self) -> bool {
        let Ok(requests) = self.deps.store.connections().snapshot_requests(self.info.space).await
        else {
            return false;
        };
        let is_new = requests != self.snapshot_requests;
        self.snapshot_requests = requests;
        std::mem::replace(&mut self.was_requested, is_new) || is_new
    }

    /// Reads the followers and the members again, and sends a snapshot if there is new text.
    async fn refresh(&mut self) -> AgentMembership {
        let began = Instant::now();
        let audience = match self
            .deps
            .store
            .connections()
            .audience(self.info.space, self.deps.clock.now())
            .await
        {
            Ok(audience) => audience,
            Err(Error::NotFound(_)) => return AgentMembership::Ended,
            Err(_) => {
                self.followers.drop_expired(self.deps.clock.now());
                return AgentMembership::Unknown;
            }
        };
        if audience.roster.member(self.info.agent).is_none() {
            return AgentMembership::Ended;
        }
        self.roster = audience.roster.head.roster;
        self.checked_at = began;
        self.refreshed_at = began;
        let asking = self.update_followers(&audience);
        if self.followers.are_many() || self.snapshot_bytes == self.posted_bytes {
            self.send_snapshot_to(&asking);
        } else {
            self.snapshot_bytes = self.posted_bytes;
            for snapshot in self.snapshots() {
                self.post(snapshot);
            }
        }
        AgentMembership::Active
    }

    /// Adds the first followers.
    pub(in crate::streaming) fn admit(&mut self, audience: &Audience) {
        self.update_followers(audience);
    }

    /// Sends the text so far.
    fn send_snapshot_to(&mut self, ids: &[ConnectionId]) {
        if ids.is_empty() {
            return;
        }
        let snapshots = self.snapshots().into_iter().map(|kind| self.event(kind));
        let snapshots: Vec<_> = snapshots.collect();
        self.followers.send_to(ids, &snapshots);
    }

    /// Updates the followers and sends the new ones the first event. Returns those that need a
    /// snapshot.
    fn update_followers(&mut self, audience: &Audience) -> Vec<ConnectionId> {
        let started = self.event(EventKind::StreamStarted {
            stream_id: self.info.stream,
            run_id: self.info.run,
            call_id: self.info.call,
            attempt: self.info.attempt,
            sender: self.sender.clone(),
            kind: if self.info.tool.is_some() { StreamKind::Tool } else { StreamKind::Message },
            tool_name: self.info.tool.clone(),
        });
        self.followers.update(&self.deps, audience, &started)
    }
}
