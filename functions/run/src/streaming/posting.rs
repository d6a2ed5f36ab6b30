//! Sends the frames of a stream: deltas, snapshots and the end. Before new text is sent, it checks
//! that the connections may still read the space.

mod listeners;
mod pieces;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Error,
    events::{Event, EventKind, StreamKind},
    ids::ConnectionId,
    limits::STREAM_BYTES,
    messages::Sender,
};
use smartspace_store::connections::Audience;
use tokio::time::Instant;

use crate::streaming::{StreamDeps, StreamInfo};
use listeners::Listeners;
use pieces::pieces;

/// Text is collected for at least this long before it is sent.
const FLUSH_INTERVAL: Duration = Duration::from_millis(50);
/// With many connections text is collected for this long per connection.
const FLUSH_INTERVAL_PER_CONNECTION: Duration = Duration::from_millis(2);
/// How long a check of the members stays valid. Text that arrives right after the start is sent
/// without another read.
const CHECK_VALID: Duration = Duration::from_millis(10);

/// Whether the agent is still a member of the space. If not, its stream stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentMembership {
    Active,
    Ended,
}

/// The text of a stream and the connections that receive it.
pub(super) struct Posting {
    deps: StreamDeps,
    info: StreamInfo,
    sender: Sender,
    /// The version of the roster by which the listeners were chosen.
    roster: u64,
    /// When `roster` was last known to be the newest version.
    checked_at: Instant,
    text: String,
    /// The posted part of `text`, in UTF-16 code units.
    posted_units: usize,
    /// The posted part of `text`, in bytes.
    posted_bytes: usize,
    /// The part of `text` in the last snapshot, in bytes.
    snapshot_bytes: usize,
    last_flush: Option<Instant>,
    listeners: Listeners,
}

impl Posting {
    pub(super) fn new(
        deps: StreamDeps,
        info: StreamInfo,
        sender: Sender,
        roster: u64,
        checked_at: Instant,
    ) -> Self {
        Self {
            deps,
            info,
            sender,
            roster,
            checked_at,
            text: String::new(),
            posted_units: 0,
            posted_bytes: 0,
            snapshot_bytes: 0,
            last_flush: None,
            listeners: Listeners::default(),
        }
    }

    /// Returns when the waiting text is to be posted. `None` if no text waits.
    pub(super) fn flush_at(&self) -> Option<Instant> {
        let connections = u32::try_from(self.listeners.len()).unwrap_or(u32::MAX);
        let interval = FLUSH_INTERVAL.max(FLUSH_INTERVAL_PER_CONNECTION * connections);
        (self.posted_bytes < self.text.len())
            .then(|| self.last_flush.map_or_else(Instant::now, |last| last + interval))
    }

    pub(super) fn push(&mut self, text: &str) {
        // A stream ends at its limit. Clients get the rest with the message.
        let room = STREAM_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }

    pub(super) async fn flush(&mut self) -> AgentMembership {
        if self.posted_bytes == self.text.len() {
            return AgentMembership::Active;
        }
        if self.check().await == AgentMembership::Ended {
            return AgentMembership::Ended;
        }
        let text = self.text[self.posted_bytes..].to_owned();
        let mut offset = self.posted_units;
        self.posted_units += text.encode_utf16().count();
        self.posted_bytes = self.text.len();
        self.last_flush = Some(Instant::now());
        // A model may write more at once than a frame can hold.
        for piece in pieces(&text) {
            self.post(&EventKind::StreamDelta {
                stream_id: self.info.stream,
                offset,
                text: piece.to_owned(),
            });
            offset += piece.encode_utf16().count();
        }
        AgentMembership::Active
    }

    /// Checks before each delta whether the roster has changed since the listeners were chosen. The
    /// head of the space shows this in one small read.
    async fn check(&mut self) -> AgentMembership {
        // Without listeners nothing is shown. New followers are found and checked with the next
        // snapshot.
        if self.listeners.is_empty() || self.checked_at.elapsed() < CHECK_VALID {
            return AgentMembership::Active;
        }
        match self.deps.store.members().head(self.info.space).await {
            Ok(Some(head)) if head.roster == self.roster => {
                self.checked_at = Instant::now();
                AgentMembership::Active
            }
            Ok(None) => AgentMembership::Ended,
            Ok(Some(_)) => self.refresh().await,
            Err(_) => {
                self.listeners.clear();
                AgentMembership::Active
            }
        }
    }

    /// Reads the followers and the members again, and sends a snapshot if there is new text.
    pub(super) async fn refresh(&mut self) -> AgentMembership {
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
                // A listener may have left the space, so all of them are dropped. The next refresh
                // adds the permitted ones again and sends them a snapshot.
                self.listeners.clear();
                return AgentMembership::Active;
            }
        };
        if audience.roster.member(self.info.agent).is_none() {
            return AgentMembership::Ended;
        }
        self.roster = audience.roster.head.roster;
        self.checked_at = Instant::now();
        if self.snapshot_bytes < self.posted_bytes {
            self.snapshot_bytes = self.posted_bytes;
            let frames = self.snapshot_frames();
            self.update_listeners(&audience);
            for frame in frames {
                self.post(&frame);
            }
        } else {
            self.admit(&audience);
        }
        AgentMembership::Active
    }

    /// Updates the listeners and sends the new ones the text so far.
    pub(super) fn admit(&mut self, audience: &Audience) {
        let new = self.update_listeners(audience);
        if self.text.is_empty() {
            return;
        }
        let frames: Vec<_> = self.snapshot_frames().iter().map(|kind| self.frame(kind)).collect();
        self.listeners.send_to(&new, &frames);
    }

    /// Updates the listeners and sends the new ones the first frame. Returns the new ones.
    fn update_listeners(&mut self, audience: &Audience) -> Vec<ConnectionId> {
        let started = self.frame(&EventKind::StreamStarted {
            stream_id: self.info.stream,
            run_id: self.info.run,
            call_id: self.info.call,
            attempt: self.info.attempt,
            sender: self.sender.clone(),
            kind: if self.info.tool.is_some() { StreamKind::Tool } else { StreamKind::Message },
            tool_name: self.info.tool.clone(),
        });
        self.listeners.update(&self.deps, audience, &started)
    }

    fn snapshot_frames(&self) -> Vec<EventKind> {
        let mut offset = 0;
        let mut frames = Vec::new();
        for text in pieces(&self.text[..self.posted_bytes]) {
            let at = (offset > 0).then_some(offset);
            frames.push(EventKind::StreamSnapshot {
                stream_id: self.info.stream,
                offset: at,
                text: text.to_owned(),
            });
            offset += text.encode_utf16().count();
        }
        frames
    }

    fn frame(&self, kind: &EventKind) -> Arc<str> {
        let at = self.deps.clock.now();
        Event { space_id: self.info.space, at, what: kind.clone() }.to_frame().into()
    }

    pub(super) fn post(&mut self, kind: &EventKind) {
        if self.listeners.is_empty() {
            return;
        }
        let frame = self.frame(kind);
        self.listeners.send(&frame);
    }

    pub(super) async fn close(self) {
        self.listeners.close().await;
    }
}
