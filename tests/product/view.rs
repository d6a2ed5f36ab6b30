//! What a browser shows of a space, put together from frames as the API says: messages by `seq` and `rev`, streams by offset.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::{
    routes::{seq, text},
    socket::Frame,
};

/// A space on a screen.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// The messages in their last known state, by `seq`.
    pub(crate) messages: BTreeMap<u64, Value>,
    /// All streams, also those that are over, by id.
    pub(crate) streams: BTreeMap<String, Stream>,
    ended_runs: HashSet<String>,
}

/// A text that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    run: Option<String>,
    call: Option<String>,
    attempt: u64,
    /// UTF-16 code units; what has not come yet is none.
    units: Vec<Option<u16>>,
    /// It is shown no more.
    over: bool,
}

impl Stream {
    /// The text up to the first gap.
    pub(crate) fn text(&self) -> String {
        let units: Vec<u16> = self.units.iter().copied().map_while(|unit| unit).collect();
        String::from_utf16(&units).unwrap_or_else(|_| panic!("half a character was sent: {units:?}"))
    }

    fn write(&mut self, offset: usize, text: &str) {
        for (index, unit) in text.encode_utf16().enumerate() {
            let at = offset + index;
            if self.units.len() <= at {
                self.units.resize(at + 1, None);
            }
            let before = self.units[at].replace(unit);
            assert!(before.is_none_or(|before| before == unit), "two frames disagree on the unit {at} of a stream");
        }
    }
}

impl View {
    /// What `frames` tell of a space.
    pub(crate) fn of(frames: &[Frame], space: &str) -> Self {
        let mut view = Self::default();
        for frame in frames.iter().filter(|frame| frame.body["spaceId"] == space) {
            view.apply(&frame.kind, &frame.body);
        }
        view
    }

    /// The texts of the messages, in order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.messages.values().map(text).collect()
    }

    /// What is being written right now.
    pub(crate) fn live(&self) -> Vec<String> {
        self.streams.values().filter(|stream| !stream.over).map(Stream::text).filter(|text| !text.is_empty()).collect()
    }

    fn apply(&mut self, kind: &str, body: &Value) {
        match kind {
            "message.created" | "message.updated" => self.message(&body["message"]),
            "stream.started" => self.started(body),
            "stream.delta" | "stream.snapshot" => {
                let offset = body["offset"].as_u64().unwrap_or(0);
                self.stream(body).write(usize::try_from(offset).unwrap(), body["text"].as_str().unwrap());
            }
            // With a message the text stays until the message takes its place.
            "stream.ended" => self.stream(body).over |= body["messageId"].is_null(),
            "run.completed" | "run.failed" | "run.canceled" => {
                let run = body["run"]["id"].as_str().unwrap();
                self.ended_runs.insert(run.to_owned());
                self.streams.values_mut().filter(|stream| stream.run.as_deref() == Some(run)).for_each(|stream| stream.over = true);
            }
            _ => {}
        }
    }

    fn stream(&mut self, body: &Value) -> &mut Stream {
        let id = body["streamId"].as_str().unwrap_or_else(|| panic!("no streamId in {body}"));
        self.streams.entry(id.to_owned()).or_default()
    }

    fn message(&mut self, message: &Value) {
        if let Some(stream) = message["streamId"].as_str() {
            self.streams.entry(stream.to_owned()).or_default().over = true;
        }
        let newer = self.messages.get(&seq(message)).is_none_or(|known| known["rev"].as_u64() < message["rev"].as_u64());
        if newer {
            self.messages.insert(seq(message), message.clone());
        }
    }

    /// Of two streams of one call the one of the higher attempt is shown.
    fn started(&mut self, body: &Value) {
        let call = body["callId"].as_str().map(str::to_owned);
        let attempt = body["attempt"].as_u64().unwrap();
        let run = body["runId"].as_str().map(str::to_owned);
        let mut over = run.as_ref().is_some_and(|run| self.ended_runs.contains(run));
        for other in self.streams.values_mut().filter(|other| other.call.is_some() && other.call == call) {
            other.over |= other.attempt < attempt;
            over |= other.attempt > attempt;
        }
        let stream = self.stream(body);
        (stream.run, stream.call, stream.attempt) = (run, call, attempt);
        stream.over |= over;
    }
}

mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn seen(bodies: &[Value]) -> View {
        let frames = bodies.iter().map(|body| {
            let mut body = body.clone();
            body["spaceId"] = "s".into();
            Frame { at: Instant::now(), kind: body["type"].as_str().unwrap().into(), body }
        });
        View::of(&frames.collect::<Vec<_>>(), "s")
    }

    fn started(stream: &str, attempt: u64) -> Value {
        json!({ "type": "stream.started", "streamId": stream, "callId": "c", "runId": "r", "attempt": attempt })
    }

    #[test]
    fn deltas_fit_together_in_any_order_and_doubles_are_harmless() {
        let delta = |offset: usize, text: &str| json!({ "type": "stream.delta", "streamId": "x", "offset": offset, "text": text });
        let frames = [delta(4, "c"), started("x", 1), delta(0, "a"), delta(1, "😀"), delta(3, "b"), delta(0, "a")];
        for rotation in 0..frames.len() {
            let mut frames = frames.to_vec();
            frames.rotate_left(rotation);
            assert_eq!(seen(&frames).live(), ["a😀bc"]);
        }
        assert_eq!(seen(&[delta(0, "a"), delta(3, "b")]).live(), ["a"]);
    }

    #[test]
    fn a_message_replaces_its_stream_and_a_new_attempt_the_old() {
        let delta = |stream: &str, text: &str| json!({ "type": "stream.delta", "streamId": stream, "offset": 0, "text": text });
        let message = json!({ "type": "message.created",
            "message": { "seq": 1, "rev": 1, "streamId": "x", "parts": [{ "type": "text", "text": "whole" }] } });
        let view = seen(&[message, started("x", 1), delta("x", "who")]);
        assert_eq!((view.texts(), view.live()), (vec!["whole"], vec![]));
        let view = seen(&[started("x", 1), delta("x", "old"), started("y", 2), delta("y", "new")]);
        assert_eq!(view.live(), ["new"]);
        let ended = json!({ "type": "run.failed", "run": { "id": "r" } });
        assert!(seen(&[started("x", 1), delta("x", "old"), ended]).live().is_empty());
    }
}
