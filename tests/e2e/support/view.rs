//! The view of a space that a browser shows, put together from frames as the API documents it:
//! messages by `seq` and `rev`, streams by offset.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::support::{
    routes::{seq, text},
    socket::Frame,
};

/// The view of a space.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// The latest known state of each message, by `seq`.
    pub(crate) messages: BTreeMap<u64, Value>,
    /// All streams by id, including those that ended.
    pub(crate) streams: BTreeMap<String, Stream>,
    ended_runs: HashSet<String>,
}

/// A text while it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    run: Option<String>,
    call: Option<String>,
    attempt: u64,
    /// The UTF-16 code units. `None` stands for units that have not arrived.
    units: Vec<Option<u16>>,
    /// The view no longer shows the stream.
    ended: bool,
}

impl Stream {
    /// The text up to the first gap.
    pub(crate) fn text(&self) -> String {
        let units: Vec<u16> = self.units.iter().copied().map_while(|unit| unit).collect();
        String::from_utf16(&units)
            .unwrap_or_else(|_| panic!("half a character was sent: {units:?}"))
    }

    fn write(&mut self, offset: usize, text: &str) {
        for (index, unit) in text.encode_utf16().enumerate() {
            let at = offset + index;
            if self.units.len() <= at {
                self.units.resize(at + 1, None);
            }
            let before = self.units[at].replace(unit);
            assert!(
                before.is_none_or(|before| before == unit),
                "two frames disagree on unit {at} of a stream"
            );
        }
    }
}

impl View {
    /// The view of a space after these frames.
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

    /// The texts that are being written.
    pub(crate) fn live(&self) -> Vec<String> {
        self.streams
            .values()
            .filter(|stream| !stream.ended)
            .map(Stream::text)
            .filter(|text| !text.is_empty())
            .collect()
    }

    fn apply(&mut self, kind: &str, body: &Value) {
        match kind {
            "message.created" | "message.updated" => self.message(&body["message"]),
            "stream.started" => self.started(body),
            "stream.delta" | "stream.snapshot" => {
                let offset = body["offset"].as_u64().unwrap_or(0);
                self.stream(body)
                    .write(usize::try_from(offset).unwrap(), body["text"].as_str().unwrap());
            }
            // If the stream has a message, keep the text until the message replaces it.
            "stream.ended" => self.stream(body).ended |= body["messageId"].is_null(),
            "run.completed" | "run.failed" | "run.canceled" => {
                let run = body["run"]["id"].as_str().unwrap();
                self.ended_runs.insert(run.to_owned());
                self.streams
                    .values_mut()
                    .filter(|stream| stream.run.as_deref() == Some(run))
                    .for_each(|stream| stream.ended = true);
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
            self.streams.entry(stream.to_owned()).or_default().ended = true;
        }
        let newer = self
            .messages
            .get(&seq(message))
            .is_none_or(|known| known["rev"].as_u64() < message["rev"].as_u64());
        if newer {
            self.messages.insert(seq(message), message.clone());
        }
    }

    /// Starts a stream. Of two streams of the same call, the view shows the one with the higher
    /// attempt.
    fn started(&mut self, body: &Value) {
        let call = body["callId"].as_str().map(str::to_owned);
        let attempt = body["attempt"].as_u64().unwrap();
        let run = body["runId"].as_str().map(str::to_owned);
        let mut ended = run.as_ref().is_some_and(|run| self.ended_runs.contains(run));
        for other in
            self.streams.values_mut().filter(|other| other.call.is_some() && other.call == call)
        {
            other.ended |= other.attempt < attempt;
            ended |= other.attempt > attempt;
        }
        let stream = self.stream(body);
        stream.run = run;
        stream.call = call;
        stream.attempt = attempt;
        stream.ended |= ended;
    }
}

mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn view_of(bodies: &[Value]) -> View {
        let frames = bodies.iter().map(|body| {
            let mut body = body.clone();
            body["spaceId"] = "s".into();
            Frame { at: Instant::now(), kind: body["type"].as_str().unwrap().into(), body }
        });
        View::of(&frames.collect::<Vec<_>>(), "s")
    }

    fn started(stream: &str, attempt: u64) -> Value {
        json!({
            "type": "stream.started",
            "streamId": stream,
            "callId": "c",
            "runId": "r",
            "attempt": attempt,
        })
    }

    fn delta(stream: &str, offset: usize, text: &str) -> Value {
        json!({ "type": "stream.delta", "streamId": stream, "offset": offset, "text": text })
    }

    #[test]
    fn deltas_may_arrive_in_any_order_and_twice() {
        let frames = [
            delta("x", 4, "c"),
            started("x", 1),
            delta("x", 0, "a"),
            delta("x", 1, "😀"),
            delta("x", 3, "b"),
            delta("x", 0, "a"),
        ];
        for rotation in 0..frames.len() {
            let mut frames = frames.to_vec();
            frames.rotate_left(rotation);
            assert_eq!(view_of(&frames).live(), ["a😀bc"]);
        }
        assert_eq!(view_of(&[delta("x", 0, "a"), delta("x", 3, "b")]).live(), ["a"]);
    }

    #[test]
    fn a_message_replaces_its_stream_and_a_new_attempt_the_old_one() {
        let parts = json!([{ "type": "text", "text": "whole" }]);
        let message = json!({ "seq": 1, "rev": 1, "streamId": "x", "parts": parts });
        let message = json!({ "type": "message.created", "message": message });
        let old = delta("x", 0, "old");
        let view = view_of(&[message, started("x", 1), delta("x", 0, "who")]);
        assert_eq!((view.texts(), view.live()), (vec!["whole"], vec![]));
        let new = delta("y", 0, "new");
        let view = view_of(&[started("x", 1), old.clone(), started("y", 2), new]);
        assert_eq!(view.live(), ["new"]);
        let ended = json!({ "type": "run.failed", "run": { "id": "r" } });
        assert!(view_of(&[started("x", 1), old, ended]).live().is_empty());
    }
}
