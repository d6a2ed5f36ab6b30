//! Sends the frames of a stream: deltas, snapshots and the end. While text is sent, it checks that
//! the connections may still read the space.

mod followers;
mod refresh;

use std::time::Duration;

use smartspace_domain::{
    events::{Event, EventKind, pieces},
    limits::STREAM_BYTES,
    messages::Sender,
};
use smartspace_store::connections::SnapshotRequests;
use tokio::time::Instant;

use crate::streaming::{StreamDeps, StreamInfo};
use followers::StreamFollowers;

/// How long text is collected before it is sent, by the age of its stream. At first every piece
/// counts; later, the text looks as smooth with a third of the frames.
const FLUSH_INTERVALS: [(Duration, Duration); 2] = [
    (Duration::from_secs(1), Duration::from_millis(50)),
    (Duration::from_secs(10), Duration::from_millis(120)),
];
/// How long the text of older streams is collected.
const LAST_FLUSH_INTERVAL: Duration = Duration::from_millis(200);
/// With many connections text is collected for this long per connection.
const FLUSH_INTERVAL_PER_CONNECTION: Duration = Duration::from_millis(2);
/// Text is never collected for longer than this.
const LONGEST_FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// How long text is collected for a stream of this age and so many connections.
fn flush_interval(age: Duration, connections: usize) -> Duration {
    let of_age = FLUSH_INTERVALS.iter().find(|(until, _)| age < *until);
    let of_age = of_age.map_or(LAST_FLUSH_INTERVAL, |(_, interval)| *interval);
    let connections = u32::try_from(connections).unwrap_or(u32::MAX);
    let of_crowd = FLUSH_INTERVAL_PER_CONNECTION.saturating_mul(connections);
    of_age.max(of_crowd).min(LONGEST_FLUSH_INTERVAL)
}

/// Whether the agent is still a member of the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentMembership {
    Active,
    /// The agent has left, so the stream stops.
    Ended,
    /// The members could not be read. The text waits until they are.
    Unknown,
}

/// The text of a stream and the connections that receive it.
pub(super) struct Posting {
    deps: StreamDeps,
    info: StreamInfo,
    sender: Sender,
    /// The version of the roster by which the followers were chosen.
    roster: u64,
    /// When the last read began that showed `roster` to be the newest version.
    checked_at: Instant,
    /// When the followers were read.
    refreshed_at: Instant,
    /// The requests for snapshots in a large room, as far as this stream knows.
    snapshot_requests: SnapshotRequests,
    /// Whether the last check found a new request.
    was_requested: bool,
    /// When the first text was posted.
    began: Option<Instant>,
    text: String,
    /// The posted part of `text`, in UTF-16 code units.
    posted_units: usize,
    /// The posted part of `text`, in bytes.
    posted_bytes: usize,
    /// The part of `text` in the last snapshot, in bytes.
    snapshot_bytes: usize,
    last_flush: Option<Instant>,
    followers: StreamFollowers,
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
            refreshed_at: checked_at,
            snapshot_requests: SnapshotRequests::default(),
            was_requested: false,
            began: None,
            text: String::new(),
            posted_units: 0,
            posted_bytes: 0,
            snapshot_bytes: 0,
            last_flush: None,
            followers: StreamFollowers::default(),
        }
    }

    /// Returns when the waiting text is to be posted. `None` if no text waits.
    pub(super) fn flush_at(&self) -> Option<Instant> {
        let age = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        let interval = flush_interval(age, self.followers.len());
        (self.posted_bytes < self.text.len())
            .then(|| self.last_flush.map_or_else(Instant::now, |last| last + interval))
    }

    pub(super) fn push(&mut self, text: &str) {
        // A stream ends at its limit. Clients get the rest with the message.
        let room = STREAM_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }

    /// Posts the text that waits.
    pub(super) async fn flush(&mut self) -> AgentMembership {
        let membership = self.post_text().await;
        self.deliver().await;
        membership
    }

    /// Posts the text that waits, and then the end of the stream.
    pub(super) async fn end(&mut self, ended: EventKind) {
        if self.post_text().await == AgentMembership::Active {
            self.post(ended);
            self.deliver().await;
        }
    }

    async fn post_text(&mut self) -> AgentMembership {
        if self.posted_bytes == self.text.len() {
            return AgentMembership::Active;
        }
        let membership = self.check_roster().await;
        if membership != AgentMembership::Active {
            self.last_flush = Some(Instant::now());
            return membership;
        }
        let text = self.text[self.posted_bytes..].to_owned();
        let mut offset = self.posted_units;
        self.posted_units += text.encode_utf16().count();
        self.posted_bytes = self.text.len();
        let now = Instant::now();
        self.last_flush = Some(now);
        self.began.get_or_insert(now);
        // A model may write more at once than a frame can hold.
        for piece in pieces(&text) {
            self.post(EventKind::StreamDelta {
                stream_id: self.info.stream,
                offset,
                text: piece.to_owned(),
            });
            offset += piece.encode_utf16().count();
        }
        AgentMembership::Active
    }

    fn snapshots(&self) -> Vec<EventKind> {
        let mut offset = 0;
        let mut snapshots = Vec::new();
        for text in pieces(&self.text[..self.posted_bytes]) {
            let at = (offset > 0).then_some(offset);
            snapshots.push(EventKind::StreamSnapshot {
                stream_id: self.info.stream,
                offset: at,
                text: text.to_owned(),
            });
            offset += text.encode_utf16().count();
        }
        snapshots
    }

    fn event(&self, what: EventKind) -> Event {
        Event { space_id: self.info.space, at: self.deps.clock.now(), what }
    }

    fn post(&mut self, what: EventKind) {
        if self.followers.is_empty() {
            return;
        }
        let event = self.event(what);
        self.followers.send(&event);
    }

    /// In a large room, queues the frames that wait.
    async fn deliver(&mut self) {
        self.followers.deliver(&self.deps, self.info.space, self.roster).await;
    }

    pub(super) async fn close(self) {
        self.followers.close().await;
        self.deps.sockets.post_permits().report_late();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_collected_by_age_and_for_a_crowd() {
        let interval =
            |age, connections| flush_interval(Duration::from_millis(age), connections).as_millis();
        let by_age = [0, 999, 1_000, 9_999, 10_000, 60_000].map(|age| interval(age, 1));
        assert_eq!(by_age, [50, 50, 120, 120, 200, 200]);
        let by_crowd = [25, 26, 100, 500, 2_000].map(|connections| interval(0, connections));
        assert_eq!(by_crowd, [50, 52, 200, 1_000, 1_000]);
        assert_eq!(interval(60_000, 50), 200);
    }
}
