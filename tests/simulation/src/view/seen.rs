//! Everything that a person saw, and the contradictions in it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ledger::Reactions;

/// Everything that a person saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Messages by space and number: their ids, and their texts or the inputs of their cards. The
    /// input of a call that waits for approval is not here, because people may edit it.
    pub messages: BTreeMap<String, BTreeMap<u64, (String, String)>>,
    /// The senders of messages, by space and number.
    pub senders: BTreeMap<(String, u64), String>,
    /// The texts of messages that were changed, by space, number and revision. `None` for a
    /// tombstone.
    pub changed: BTreeMap<(String, u64, u64), Option<String>>,
    /// Texts of streams, in UTF-16 code units; `None` if a unit was not seen.
    pub streams: BTreeMap<String, Vec<Option<u16>>>,
    /// Where and when streams were heard.
    pub heard: BTreeMap<String, Heard>,
    /// The message that a stream became: its id, its text and its space.
    pub became: BTreeMap<String, (String, String, String)>,
    /// The states of cards, by message and revision.
    pub cards: BTreeMap<(String, u64), Value>,
    /// Forms, by their calls.
    pub forms: BTreeMap<String, Form>,
    /// The final statuses of runs.
    pub ends: BTreeMap<String, BTreeSet<String>>,
    /// Runs with the spaces that showed them, and with the trigger that was shown.
    pub runs: BTreeSet<(String, String, String)>,
    /// Runs that began and did not end yet, as far as the person saw.
    pub active: BTreeSet<String>,
    /// Answers to requests over the socket, by their ids.
    pub answers: BTreeMap<u64, Value>,
    /// The read positions of members, by space and entity.
    pub reads: BTreeMap<(String, String), u64>,
    /// The newest frame about who is present in each space, and how many there were.
    pub presence: BTreeMap<String, (Value, usize)>,
    /// The reactions to messages, by space, number and revision.
    pub reactions: BTreeMap<(String, u64, u64), Reactions>,
    /// The frames about mentions, with their spaces.
    pub mentions: Vec<(String, Value)>,
    pub frames: Vec<Frame>,
    /// Frames that contradict each other, with the promise that they break.
    pub violations: BTreeSet<(u8, String)>,
}

/// Where and when the text of a stream was seen.
#[derive(Clone, Debug)]
pub struct Heard {
    pub space: String,
    /// The time of its first piece.
    pub first: Instant,
    /// The time of its newest piece.
    pub last: Instant,
}

/// A form that was seen.
#[derive(Clone, Debug)]
pub struct Form {
    pub run: String,
    /// Whether it shows a call that people decide.
    pub is_approval: bool,
    /// Whether it can be answered, as far as the person saw.
    pub is_open: bool,
    /// The newest revision of its card that was seen.
    rev: u64,
}

/// A frame that was seen.
#[derive(Clone, Debug)]
pub struct Frame {
    /// When it was seen.
    pub at: Instant,
    pub space: String,
    pub kind: String,
    /// The number of its message, if it is about one.
    pub seq: Option<u64>,
    /// Its stream, if it is about one.
    pub stream: String,
    /// The text of a stream, or the question of a form.
    pub text: String,
}

impl Frame {
    fn new(frame: &Value) -> Self {
        let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
        let question = &frame["input"]["question"];
        Self {
            at: Instant::now(),
            space: text("spaceId"),
            kind: text("type"),
            seq: frame["message"]["seq"].as_u64(),
            stream: text("streamId"),
            text: if frame["input"].is_null() {
                text("text")
            } else {
                question.to_string().replace('"', "")
            },
        }
    }
}

impl Seen {
    /// The number of a space up to which no message is missing.
    pub fn contiguous(&self, space: &str) -> u64 {
        let messages = self.messages.get(space).into_iter().flatten();
        messages.zip(1..).take_while(|((seq, _), expected)| **seq == *expected).count() as u64
    }

    /// The streams with missing pieces that were heard since this time, with their spaces.
    pub fn gaps(&self, since: Instant) -> Vec<(String, String)> {
        let has_gap = |stream: &String| {
            self.streams.get(stream).is_some_and(|units| units.iter().any(Option::is_none))
        };
        let heard = self.heard.iter().filter(|(_, heard)| heard.last >= since);
        heard
            .filter(|(stream, _)| has_gap(stream))
            .map(|(stream, heard)| (stream.clone(), heard.space.clone()))
            .collect()
    }

    pub(super) fn add_frame(&mut self, frame: &Value) {
        let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
        let kind = text("type");
        self.frames.push(Frame::new(frame));
        if let Some(run) = frame["run"]["id"].as_str() {
            self.runs.insert((
                run.to_owned(),
                text("spaceId"),
                frame["run"]["trigger"].to_string(),
            ));
        }
        match kind.as_str() {
            "message.created" | "message.updated" => self.add_message(&frame["message"]),
            "tool.requested" | "tool.resolved" => self.add_form(frame, kind == "tool.requested", 0),
            "stream.delta" | "stream.snapshot" => self.hear(frame),
            "run.started" => {
                let run = frame["run"]["id"].as_str().unwrap_or_default().to_owned();
                if !self.ends.contains_key(&run) {
                    self.active.insert(run);
                }
            }
            "presence" => self.add_presence(frame),
            "run.step" => {
                let step = &frame["step"];
                if !step["model"].is_null() || step["calls"].to_string().contains("callId") {
                    self.violations.insert((9, format!("a member sees all of a step: {step}")));
                }
            }
            "run.completed" | "run.failed" | "run.canceled" => self.end_run(frame, &kind),
            "space.read" => self.add_reads(frame),
            "reactions" => self.add_reactions(frame),
            "mention" => self.mentions.push((text("spaceId"), frame.clone())),
            "subscribed" => {
                for active in frame["active"].as_array().into_iter().flatten() {
                    let run = active["runId"].as_str().unwrap_or_default().to_owned();
                    if !self.ends.contains_key(&run) {
                        self.active.insert(run);
                    }
                }
            }
            _ => {}
        }
    }

    fn add_reactions(&mut self, frame: &Value) {
        let space = frame["spaceId"].as_str().unwrap_or_default();
        for item in frame["items"].as_array().into_iter().flatten() {
            let number = |name: &str| item[name].as_u64().unwrap_or_default();
            let given = item["reactions"].as_array().into_iter().flatten();
            let counts = given.map(|one| {
                let emoji = one["emoji"].as_str().unwrap_or_default().to_owned();
                (emoji, one["count"].as_u64().unwrap_or_default() as usize)
            });
            let key = (space.to_owned(), number("seq"), number("reactionsRev"));
            self.reactions.insert(key, counts.collect());
        }
    }

    fn add_presence(&mut self, frame: &Value) {
        self.check_presence(frame);
        let space = frame["spaceId"].as_str().unwrap_or_default().to_owned();
        let (newest, count) = self.presence.entry(space).or_default();
        *count += 1;
        if newest["at"].as_str() <= frame["at"].as_str() {
            *newest = frame.clone();
        }
    }

    fn end_run(&mut self, frame: &Value, kind: &str) {
        let run = frame["run"]["id"].as_str().unwrap_or_default().to_owned();
        self.active.remove(&run);
        let status = frame["run"]["status"].as_str().unwrap_or_default();
        if !kind.ends_with(status) {
            self.violations.insert((4, format!("{kind} says that {run} is {status}")));
        }
        self.ends.entry(run).or_default().insert(status.to_owned());
    }

    /// Adds a piece of a stream.
    fn hear(&mut self, frame: &Value) {
        let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
        let offset = frame["offset"].as_u64().unwrap_or(0) as usize;
        let stream = text("streamId");
        let now = Instant::now();
        let heard = self.heard.entry(stream.clone()).or_insert_with(|| Heard {
            space: text("spaceId"),
            first: now,
            last: now,
        });
        heard.last = now;
        self.add_stream(&stream, offset, &text("text"));
    }

    /// Each entity is listed once, and those who type are present.
    fn check_presence(&mut self, frame: &Value) {
        let listed = frame["present"].as_array().into_iter().flatten();
        let present: Vec<_> = listed.map(|it| it["entityId"].to_string()).collect();
        let is_sorted = present.is_sorted_by(|one, next| one < next);
        let typing = frame["typing"].as_array().into_iter().flatten();
        let all_present = typing.into_iter().all(|id| present.contains(&id.to_string()));
        if !is_sorted || !all_present {
            self.violations.insert((10, format!("presence contradicts itself: {frame}")));
        }
    }

    fn add_reads(&mut self, frame: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let one = std::slice::from_ref(frame);
        for read in frame["reads"].as_array().map_or(one, Vec::as_slice) {
            let key = (text(&frame["spaceId"]), text(&read["entityId"]));
            let known = self.reads.entry(key).or_default();
            *known = read["seq"].as_u64().unwrap_or_default().max(*known);
        }
    }

    pub(super) fn add_message(&mut self, message: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = text(&message["id"]);
        let space = text(&message["spaceId"]);
        let part = &message["parts"][0];
        let said = match (part["type"] == "tool", &part["approval"]) {
            (false, _) => text(&part["text"]),
            (true, Value::Null) => part["input"].to_string(),
            (true, _) => String::new(),
        };
        let Some(seq) = message["seq"].as_u64() else { return };
        self.senders.insert((space.clone(), seq), text(&message["sender"]["id"]));
        if !message["deleted"].is_null() || !message["editedAt"].is_null() {
            return self.add_changed(message, id, said);
        }
        if part["type"] == "tool" {
            self.add_card(message, part);
        }
        if let Some(stream) = message["streamId"].as_str() {
            // A partial input is the text that was streamed.
            let streamed = part["input"].as_str().map_or_else(|| said.clone(), str::to_owned);
            self.became.insert(stream.to_owned(), (id.clone(), streamed, space.clone()));
        }
        let known = self
            .messages
            .entry(space.clone())
            .or_default()
            .entry(seq)
            .or_insert_with(|| (id.clone(), said.clone()));
        let is_changed =
            self.changed.range((space.clone(), seq, 0)..=(space.clone(), seq, u64::MAX));
        let is_other = known.0 != id || (known.1 != said && is_changed.count() == 0);
        if is_other {
            self.violations
                .insert((2, format!("number {seq} of {space} was {} and then {id}", known.0)));
        }
    }

    /// Adds a message that was edited or deleted. Its number has the same message as before.
    fn add_changed(&mut self, message: &Value, id: String, said: String) {
        let Some((seq, rev)) = message["seq"].as_u64().zip(message["rev"].as_u64()) else { return };
        let space = message["spaceId"].as_str().unwrap_or_default().to_owned();
        let is_deleted = !message["deleted"].is_null();
        if is_deleted && !said.is_empty() {
            self.violations.insert((14, format!("the tombstone {id} of {space} shows {said:?}")));
        }
        let of_space = self.messages.entry(space.clone()).or_default();
        let known = of_space.entry(seq).or_insert_with(|| (id.clone(), said.clone()));
        if known.0 != id {
            self.violations
                .insert((2, format!("number {seq} of {space} was {} and then {id}", known.0)));
        }
        let shown = (!is_deleted).then_some(said);
        let known = self.changed.entry((space, seq, rev)).or_insert_with(|| shown.clone());
        if *known != shown {
            self.violations
                .insert((14, format!("{id} was {known:?} and is {shown:?} in its revision {rev}")));
        }
    }

    fn add_card(&mut self, message: &Value, part: &Value) {
        let Some((id, rev)) = message["id"].as_str().zip(message["rev"].as_u64()) else { return };
        let state = json!({
            "status": part["status"], "output": part["output"], "resolvedBy": part["resolvedBy"],
            "input": part["input"],
        });
        let known = self.cards.entry((id.to_owned(), rev)).or_insert_with(|| state.clone());
        if *known != state {
            self.violations.insert((
                7,
                format!("the card {id} was {known} and is {state} in its revision {rev}"),
            ));
        }
        if !part["ui"].is_null() {
            let form = json!({
                "callId": part["callId"], "runId": message["runId"], "ui": part["ui"],
            });
            self.add_form(&form, part["status"] == "pending", rev);
        }
    }

    fn add_form(&mut self, form: &Value, is_open: bool, rev: u64) {
        let Some((call, run)) = form["callId"].as_str().zip(form["runId"].as_str()) else { return };
        let known = self.forms.entry(call.to_owned()).or_insert_with(|| Form {
            run: run.to_owned(),
            is_approval: form["ui"] == "approval",
            is_open,
            rev,
        });
        // An event without a revision closes its form.
        if rev > known.rev || !is_open {
            known.is_open = is_open;
            known.rev = rev.max(known.rev);
        }
    }

    fn add_stream(&mut self, stream: &str, offset: usize, text: &str) {
        let units = self.streams.entry(stream.to_owned()).or_default();
        for (at, unit) in (offset..).zip(text.encode_utf16()) {
            if units.len() <= at {
                units.resize(at + 1, None);
            }
            if units[at].is_some_and(|known| known != unit) {
                self.violations.insert((10, format!("the stream {stream} has two texts at {at}")));
            }
            units[at] = Some(unit);
        }
    }
}
