//! The texts that the runs of a turn write: live streams, until their messages are posted.

use std::mem;

use smartspace_client::StreamText;
use smartspace_domain::{
    ids::{CallId, RunId, StreamId},
    messages::{Message, Sender},
};

use super::TurnSequencer;
use crate::turn::TurnEvent;

#[derive(Debug, Default)]
pub(super) struct Stream {
    /// `None` until `stream.started` arrives, which deltas can overtake.
    head: Option<StreamHead>,
    pub(super) text: StreamText,
    is_started: bool,
    is_closed: bool,
}

/// Comes from the event `stream.started`.
#[derive(Debug)]
pub(super) struct StreamHead {
    pub(super) run: RunId,
    pub(super) call: CallId,
    pub(super) attempt: u32,
    pub(super) sender: Sender,
}

impl Stream {
    pub(super) fn is_of(&self, run: RunId) -> bool {
        self.head.as_ref().is_some_and(|head| head.run == run)
    }

    /// Whether the client has a part of the text, and not yet its end.
    pub(super) fn is_open(&self) -> bool {
        self.is_started && !self.is_closed
    }
}

impl TurnSequencer {
    /// Whether a text that was started is neither posted nor dropped.
    pub(crate) fn has_open_text(&self) -> bool {
        self.streams.values().any(Stream::is_open)
    }

    /// A worker that takes over a run writes the same call again, as a new attempt with a stream of
    /// its own. Only the text of the highest attempt is posted. The frames of an old attempt can
    /// still arrive after those of the new one.
    pub(super) fn start_stream(&mut self, id: StreamId, head: StreamHead) {
        let others = self.streams.iter().filter_map(|(id, stream)| {
            let other = stream.head.as_ref().filter(|other| other.call == head.call)?;
            Some((*id, other.attempt))
        });
        let others: Vec<_> = others.filter(|(other, _)| *other != id).collect();
        for (other, attempt) in &others {
            if *attempt < head.attempt {
                self.drop_stream(*other);
            }
        }
        let is_old = others.iter().any(|(_, attempt)| *attempt > head.attempt);
        let stream = self.streams.entry(id).or_default();
        stream.is_closed |= is_old;
        stream.head.get_or_insert(head);
    }

    /// Ends the stream of a posted message, or emits the message whole if none was started.
    pub(super) fn end_text(&mut self, message: &Message) {
        let in_turn = self.is_of_turn(message);
        let message: Box<Message> = message.clone().into();
        let Some(id) = message.stream_id else {
            return self.out.push(TurnEvent::Message { message, in_turn });
        };
        // Closed in any case: deltas that arrive after the message must not start the text again.
        let stream = self.streams.entry(id).or_default();
        let was_open = stream.is_open();
        stream.is_closed = true;
        if was_open {
            let rest = stream.text.remainder_of(message.text()).map(str::to_owned);
            self.out.push(TurnEvent::TextEnded { stream: id, rest, message });
        } else {
            self.out.push(TurnEvent::Message { message, in_turn });
        }
    }

    pub(super) fn drop_stream(&mut self, id: StreamId) {
        let stream = self.streams.entry(id).or_default();
        if stream.is_open() {
            self.out.push(TurnEvent::TextDropped { stream: id });
        }
        stream.is_closed = true;
    }

    pub(super) fn drop_texts_of(&mut self, run: RunId) {
        let streams = self.streams.iter().filter(|(_, stream)| stream.is_of(run));
        let streams: Vec<_> = streams.map(|(id, _)| *id).collect();
        for stream in streams {
            self.drop_stream(stream);
        }
    }

    /// Drops the open texts of remote agents whose runs have ended. A remote agent may stream a
    /// text and never post it, and no frame says so. This is right only after a sync: before, the
    /// frame of the posted message may be on its way.
    pub(super) fn drop_texts_of_remote_runs(&mut self) {
        let ended = self.runs.values().filter(|run| run.remote && !run.status.is_active());
        let ended: Vec<_> = ended.map(|run| run.id).collect();
        for run in ended {
            self.drop_texts_of(run);
        }
    }

    /// Emits the new text of the runs of the turn. The text of a stream waits until its head is
    /// known and its run is known to be of the turn.
    pub(super) fn emit_texts(&mut self) {
        let of_turn = self.tracker.runs();
        // Taken out, because `start_run` needs all of `self`.
        let mut streams = mem::take(&mut self.streams);
        for (id, stream) in &mut streams {
            let head = stream.head.as_ref().filter(|head| of_turn.contains(&head.run));
            let Some(head) = head.filter(|_| !stream.is_closed) else { continue };
            // Empty after a gap: the delta that fills the gap, or the message, comes later.
            let text = stream.text.take();
            if text.is_empty() {
                continue;
            }
            if !stream.is_started {
                stream.is_started = true;
                self.start_run(head.run, head.sender.name.clone());
                let run = head.run;
                let sender = head.sender.clone();
                self.out.push(TurnEvent::TextStarted { stream: *id, run, sender });
            }
            self.out.push(TurnEvent::TextDelta { stream: *id, text });
        }
        self.streams = streams;
    }
}
