//! What a stream has said so far, and who is told: deltas, key frames, and who may hear them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use smartspace_domain::{
    Error,
    events::{Event, Happening, StreamKind},
    ids::ConnectionId,
    limits::{FRAME_BYTES, STREAM_BYTES},
    messages::Sender,
};
use smartspace_pipeline::frames::{Told, tell};
use smartspace_store::connections::Audience;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};

use super::{About, Air};

/// Deltas are joined for so long, and longer where many listen.
const JOINED: Duration = Duration::from_millis(50);
/// What each connection adds to it.
const JOINED_EACH: Duration = Duration::from_millis(2);
/// For so long who is a member is not asked again: a first word that comes at once waits for nothing.
const CHECKED: Duration = Duration::from_millis(10);
/// A text in one frame, in bytes of JSON; the rest of the frame is for what stands around it.
const PIECE_BYTES: usize = FRAME_BYTES - 512;

/// Whether a stream may go on: its agent is a member of the space still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    There,
    Gone,
}

/// A stream's text, and who is told of it.
pub(super) struct Posting {
    air: Air,
    about: About,
    sender: Sender,
    /// The roster by which the listeners were chosen.
    roster: u64,
    /// When it was last known to be the newest.
    checked: Instant,
    text: String,
    /// UTF-16 code units of what was posted.
    posted_units: usize,
    /// Bytes of what was posted.
    posted: usize,
    snapshot: usize,
    last_flush: Option<Instant>,
    listeners: BTreeMap<ConnectionId, mpsc::UnboundedSender<Arc<str>>>,
    tasks: JoinSet<()>,
}

impl Posting {
    pub(super) fn new(air: Air, about: About, sender: Sender, (roster, checked): (u64, Instant)) -> Self {
        let (text, listeners, tasks) = (String::new(), BTreeMap::new(), JoinSet::new());
        Self { air, about, sender, roster, checked, text, posted_units: 0, posted: 0, snapshot: 0, last_flush: None, listeners, tasks }
    }

    /// When what waits is to be posted; none where nothing waits.
    pub(super) fn flush_at(&self) -> Option<Instant> {
        let joined = JOINED.max(JOINED_EACH * u32::try_from(self.listeners.len()).unwrap_or(u32::MAX));
        (self.posted < self.text.len()).then(|| self.last_flush.map_or_else(Instant::now, |last| last + joined))
    }

    pub(super) fn push(&mut self, text: &str) {
        // The rest comes with the message.
        let room = STREAM_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }

    pub(super) async fn flush(&mut self) -> Members {
        if self.posted == self.text.len() {
            return Members::There;
        }
        if self.check().await == Members::Gone {
            return Members::Gone;
        }
        let text = self.text[self.posted..].to_owned();
        let offset = self.posted_units;
        self.posted_units += text.encode_utf16().count();
        self.posted = self.text.len();
        self.last_flush = Some(Instant::now());
        // A model may write a lot at once; a frame holds only so much.
        let mut offset = offset;
        for piece in pieces(&text) {
            self.post(&Happening::StreamDelta { stream_id: self.about.stream, offset, text: piece.to_owned() });
            offset += piece.encode_utf16().count();
        }
        Members::There
    }

    /// Before anything is shown: has anybody left since the listeners were chosen? The space's head says so, for the price of one small read.
    async fn check(&mut self) -> Members {
        // Where nobody listens nothing is shown; who comes to follow is found with the next key frame, and checked by it.
        if self.listeners.is_empty() || self.checked.elapsed() < CHECKED {
            return Members::There;
        }
        match self.air.store.head(self.about.space).await {
            Ok(Some(head)) if head.roster == self.roster => {
                self.checked = Instant::now();
                Members::There
            }
            Ok(None) => Members::Gone,
            Ok(Some(_)) => self.refresh().await,
            Err(_) => {
                self.listeners.clear();
                Members::There
            }
        }
    }

    /// Reads again who follows, and who may.
    pub(super) async fn refresh(&mut self) -> Members {
        let audience = match self.air.store.audience(self.about.space, self.air.clock.now()).await {
            Ok(audience) => audience,
            Err(Error::NotFound(_)) => return Members::Gone,
            Err(_) => {
                // Nobody is told what they perhaps may not know. Who may is found again, with a snapshot, in a moment.
                self.listeners.clear();
                return Members::There;
            }
        };
        if audience.roster.member(self.about.agent).is_none() {
            return Members::Gone;
        }
        (self.roster, self.checked) = (audience.roster.head.roster, Instant::now());
        if self.snapshot < self.posted {
            self.snapshot = self.posted;
            let frames = self.snapshot_frames();
            self.admit_quietly(&audience);
            for frame in frames {
                self.post(&frame);
            }
        } else {
            self.admit(&audience);
        }
        Members::There
    }

    /// Takes in who is new, with all that was said so far, and lets go who left.
    pub(super) fn admit(&mut self, audience: &Audience) {
        let new = self.admit_quietly(audience);
        if self.text.is_empty() {
            return;
        }
        let frames: Vec<_> = self.snapshot_frames().iter().map(|what| self.frame(what)).collect();
        for listener in new.iter().filter_map(|id| self.listeners.get(id)) {
            for frame in &frames {
                let _ = listener.send(Arc::clone(frame));
            }
        }
    }

    fn admit_quietly(&mut self, audience: &Audience) -> Vec<ConnectionId> {
        self.listeners.retain(|id, _| audience.connections.iter().any(|connection| connection.id == *id));
        let started = self.frame(&Happening::StreamStarted {
            stream_id: self.about.stream,
            run_id: self.about.run,
            call_id: self.about.call,
            attempt: self.about.attempt,
            sender: self.sender.clone(),
            kind: if self.about.tool.is_some() { StreamKind::Tool } else { StreamKind::Message },
            tool_name: self.about.tool.clone(),
        });
        let mut new = Vec::new();
        for connection in &audience.connections {
            if !self.listeners.contains_key(&connection.id) {
                let (sender, frames) = mpsc::unbounded_channel();
                let _ = sender.send(Arc::clone(&started));
                self.tasks.spawn(post_all(self.air.clone(), connection.id.clone(), frames));
                self.listeners.insert(connection.id.clone(), sender);
                new.push(connection.id.clone());
            }
        }
        new
    }

    fn snapshot_frames(&self) -> Vec<Happening> {
        let mut offset = 0;
        let mut frames = Vec::new();
        for text in pieces(&self.text[..self.posted]) {
            let at = (offset > 0).then_some(offset);
            frames.push(Happening::StreamSnapshot { stream_id: self.about.stream, offset: at, text: text.to_owned() });
            offset += text.encode_utf16().count();
        }
        frames
    }

    fn frame(&self, what: &Happening) -> Arc<str> {
        let at = self.air.clock.now();
        Event { space_id: self.about.space, at, what: what.clone() }.to_frame().into()
    }

    pub(super) fn post(&mut self, what: &Happening) {
        if self.listeners.is_empty() {
            return;
        }
        let frame = self.frame(what);
        // A listener whose task ended is gone.
        self.listeners.retain(|_, listener| listener.send(Arc::clone(&frame)).is_ok());
    }

    pub(super) async fn close(mut self) {
        self.listeners.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// A text in pieces that fit a frame each. Escaping makes some characters longer, so that is what is counted.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let over = rest.char_indices().find(|(_, char)| {
            bytes += escaped(*char);
            bytes > PIECE_BYTES
        });
        let (piece, more) = rest.split_at(over.map_or(rest.len(), |(at, _)| at));
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

/// How many bytes a character takes in JSON.
fn escaped(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        char => char.len_utf8(),
    }
}

/// Posts to one connection, one frame after the other. A frame that is not taken in time takes those behind it along: a snapshot follows.
async fn post_all(air: Air, connection: ConnectionId, mut frames: mpsc::UnboundedReceiver<Arc<str>>) {
    while let Some(frame) = frames.recv().await {
        match tell(&air.store, &*air.sockets, &connection, frame).await {
            Told::Yes => {}
            Told::Gone => return,
            Told::NotInTime => while frames.try_recv().is_ok() {},
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smartspace_domain::{
        Time,
        ids::{SpaceId, StreamId},
    };

    use super::*;

    proptest! {
        #[test]
        fn pieces_make_the_text_and_fit_a_frame(text in prop_oneof![".{0,200}", "[\\u{0}-\\u{1f}\"]{0,9000}", "(ab|é|😀){0,12000}"]) {
            prop_assert_eq!(pieces(&text).collect::<String>(), text.as_str());
            for piece in pieces(&text) {
                let what = Happening::StreamSnapshot { stream_id: StreamId::new(Time::default(), 1), offset: Some(usize::MAX), text: piece.into() };
                let event = Event { space_id: SpaceId::new(Time::default(), 1), at: Time::default(), what };
                prop_assert!(serde_json::to_string(&event).unwrap().len() <= FRAME_BYTES);
            }
        }
    }

    #[test]
    fn all_that_a_stream_carries_takes_two_frames() {
        assert_eq!(pieces(&"x".repeat(STREAM_BYTES)).count(), 2);
    }
}
