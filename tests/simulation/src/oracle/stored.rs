//! The items of the table at the end, by kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::Value;
use smartspace_domain::Time;

use crate::ledger::{ModelRequest, Reactions};

/// The prefix of the attribute of a reaction: `r_<emoji in hex>_<entity>`.
const REACTION: &str = "r_";

/// The items of the table at the end. Values are items without type tags.
#[derive(Debug, Default)]
pub struct Stored {
    /// Messages by space and number.
    pub messages: BTreeMap<String, BTreeMap<u64, Value>>,
    /// Messages that were edited or deleted, by space and number, as they are at the end.
    /// `messages` has them as they were first posted.
    pub changed: BTreeMap<(String, u64), Value>,
    /// The reactions to messages, by space and number.
    pub reactions: BTreeMap<(String, u64), Value>,
    /// The entries of the lists of mentions, by person and message.
    pub mentions: BTreeMap<(String, String), Value>,
    /// The messages of threads: the space, the number of the first message, and their own.
    pub threads: BTreeSet<(String, u64, u64)>,
    /// The last number of each space.
    pub heads: BTreeMap<String, u64>,
    /// Settings of spaces.
    pub spaces: BTreeMap<String, Value>,
    /// Members, by space and entity.
    pub members: BTreeMap<(String, String), Value>,
    /// Runs.
    pub runs: BTreeMap<String, Value>,
    /// Model answers, by run and step, without those of forks.
    pub steps: BTreeMap<(String, u64), Value>,
    /// Calls, by run, step and index, without those of forks.
    pub calls: BTreeMap<(String, u64, u64), Value>,
    pub calls_of_forks: Vec<Value>,
    /// Forms, by run and call.
    pub forms: BTreeMap<(String, String), Value>,
    /// Active runs in the contexts of agents: agent and run.
    pub active: Vec<(String, String)>,
    /// Slots, by agent.
    pub slots: BTreeMap<String, Value>,
    /// Lanes, by space and agent.
    pub lanes: BTreeMap<(String, String), Value>,
    /// The usage of models, by agent, space and model.
    pub usage: Vec<(String, Value)>,
    /// The counters of budgets, by scope and day.
    pub budgets: BTreeMap<String, Value>,
    /// The keys of items that are due.
    pub due: Vec<String>,
    /// Memories: agent and key.
    pub memories: BTreeSet<(String, String)>,
    /// Firings of plans, by run.
    pub fired: BTreeMap<String, Value>,
    /// Deliveries of services, with their payloads.
    pub deliveries: BTreeMap<String, Value>,
    /// Invites.
    pub invites: BTreeMap<String, Value>,
    /// The revisions of agents, by agent and number.
    pub revisions: BTreeMap<(String, u64), Value>,
    /// The number of the last revision of each agent.
    pub last_revisions: BTreeMap<String, u64>,
    /// Retired entities.
    pub retired: BTreeSet<String>,
    /// Spaces that were deleted. Their messages are those before the deletion.
    pub deleted: BTreeSet<String>,
}

/// Whether an item is a space without members whose end no history reaches.
fn is_kept_for_long(item: &Value) -> bool {
    let time = |name: &str| item[name].as_str()?.parse::<Time>().ok();
    let [emptied, due] = ["emptiedAt", "dueAt"].map(time);
    item["deleted"].is_null()
        && emptied.zip(due).is_some_and(|(emptied, due)| emptied + Duration::from_hours(1) < due)
}

/// Parts of messages and deliveries that have items of their own.
#[derive(Default)]
struct Parts {
    texts: BTreeMap<(String, u64), Value>,
    dispatches: BTreeMap<(String, u64), Value>,
    payloads: BTreeMap<String, Value>,
}

impl Stored {
    /// Sorts items by kind.
    pub fn from_items(items: &[Value]) -> Self {
        let mut stored = Self::default();
        let mut parts = Parts::default();
        for item in items {
            let (Some(pk), Some(sk)) = (item["PK"].as_str(), item["SK"].as_str()) else { continue };
            let (kind, id) = pk.split_once('#').unwrap_or((pk, ""));
            let numbers: Vec<u64> =
                sk.split('#').skip(1).filter_map(|part| part.parse().ok()).collect();
            if !item["dueAt"].is_null() && !is_kept_for_long(item) {
                stored.due.push(format!("{pk}/{sk}"));
            }
            let name = sk.split('#').next().unwrap_or_default();
            match kind {
                "SPACE" => stored.add_of_space(&mut parts, id, name, sk, &numbers, item),
                "RUN" => stored.add_of_run(id, name, sk, &numbers, item),
                "ENTITY" => stored.add_of_entity(id, name, sk, item),
                "MENTIONS" => {
                    stored.mentions.insert((id.to_owned(), sk.to_owned()), item.clone());
                }
                "USAGE" => stored.usage.push((sk.to_owned(), item.clone())),
                "INVITES" => {
                    stored.invites.insert(sk.replacen("INVITE#", "", 1), item.clone());
                }
                "BUDGET" => {
                    stored.budgets.insert(id.to_owned(), item.clone());
                }
                "DLV" if name == "META" => {
                    stored.deliveries.insert(id.into(), item.clone());
                }
                "DLV" if name == "PAYLOAD" => {
                    parts.payloads.insert(id.to_owned(), item["payload"].clone());
                }
                _ => {}
            }
        }
        stored.join(parts);
        stored.set_forks_apart();
        stored
    }

    /// Forks make calls that have no effect. `forks` checks that.
    fn set_forks_apart(&mut self) {
        let runs = &self.runs;
        let is_fork = |run: &str| runs.get(run).is_some_and(|run| !run["forkOf"].is_null());
        self.steps.retain(|(run, _), _| !is_fork(run));
        self.calls_of_forks =
            self.calls.extract_if(.., |(run, ..), _| is_fork(run)).map(|(_, call)| call).collect();
    }

    fn add_of_space(
        &mut self,
        parts: &mut Parts,
        id: &str,
        name: &str,
        sk: &str,
        numbers: &[u64],
        item: &Value,
    ) {
        match name {
            "MSG" => {
                self.messages.entry(id.into()).or_default().insert(numbers[0], item.clone());
            }
            "TEXT" => {
                parts.texts.insert((id.to_owned(), numbers[0]), item["text"].clone());
            }
            "WOKEN" => {
                parts.dispatches.insert((id.to_owned(), numbers[0]), item["dispatch"].clone());
            }
            "REACT" => {
                self.reactions.insert((id.to_owned(), numbers[0]), item.clone());
            }
            "THREAD" => {
                if let [first, number] = numbers {
                    self.threads.insert((id.to_owned(), *first, *number));
                }
            }
            "HEAD" => {
                self.heads.insert(id.into(), item["seq"].as_u64().unwrap_or(0));
            }
            "META" => {
                self.spaces.insert(id.into(), item.clone());
            }
            "MEMBER" => {
                self.members.insert((id.into(), sk[7..].into()), item.clone());
            }
            "RUNLANE" => {
                self.lanes.insert((id.into(), sk[8..].into()), item.clone());
            }
            // An entity that is a member again also has the item of its first time.
            "PAST" => {
                let mut past = item.clone();
                past["left"] = true.into();
                self.members.entry((id.into(), sk[5..].into())).or_insert(past);
            }
            _ => {}
        }
    }

    fn add_of_run(&mut self, id: &str, name: &str, sk: &str, numbers: &[u64], item: &Value) {
        let item = item.clone();
        match name {
            "META" => {
                self.runs.insert(id.into(), item);
            }
            "TRIGGER" if !item["planId"].is_null() => {
                self.fired.insert(id.into(), item);
            }
            "STEP" => {
                self.steps.insert((id.into(), numbers[0]), item);
            }
            "FORM" => {
                self.forms.insert((id.into(), sk[5..].into()), item);
            }
            "CALL" => {
                self.calls.insert((id.into(), numbers[0], numbers[1]), item);
            }
            _ => {}
        }
    }

    fn add_of_entity(&mut self, id: &str, name: &str, sk: &str, item: &Value) {
        if name == "META" && !item["retiredAt"].is_null() {
            self.retired.insert(id.into());
        }
        if name == "META" && !item["agent"].is_null() {
            self.last_revisions.insert(id.into(), item["revision"].as_u64().unwrap_or_default());
        }
        if name == "REV" {
            let number = item["revision"].as_u64().unwrap_or_default();
            self.revisions.insert((id.into(), number), item.clone());
        }
        if name == "SLOTS" {
            self.slots.insert(id.into(), item.clone());
        }
        if let Some(key) = sk.strip_prefix("CTX#MEMORY#") {
            self.memories.insert((id.into(), key.into()));
        }
        if let Some(run) = sk.strip_prefix("CTX#ACTIVE#") {
            self.active.push((id.to_owned(), run.to_owned()));
        }
    }

    /// Adds the parts of messages and deliveries that have items of their own.
    fn join(&mut self, parts: Parts) {
        for (delivery, payload) in parts.payloads {
            // A payload without its delivery gets no status, so that the oracle ignores it.
            self.deliveries.entry(delivery).or_insert(Value::Null)["payload"] = payload;
        }
        for ((space, seq), text) in parts.texts {
            if let Some(message) = self.message_mut(&space, seq) {
                // The text item of a card has the schema of its form instead of a text.
                message["text"] = if text.is_null() { message["text"].take() } else { text };
            }
        }
        for ((space, seq), dispatch) in parts.dispatches {
            if let Some(message) = self.message_mut(&space, seq) {
                message["dispatch"] = dispatch;
            }
        }
    }

    /// Whether a space was deleted. Its forms and decisions stay as the deletion found them.
    pub fn is_deleted(&self, space: &str) -> bool {
        self.deleted.contains(space)
    }

    /// Whether a message was deleted.
    pub fn is_tombstone(&self, space: &str, seq: u64) -> bool {
        let changed = self.changed.get(&(space.to_owned(), seq));
        changed.is_some_and(|message| !message["deleted"].is_null())
    }

    /// Whether a message was edited or deleted.
    pub fn is_changed(&self, space: &str, seq: u64) -> bool {
        self.changed.contains_key(&(space.to_owned(), seq))
    }

    /// Whether deleted texts were taken out of what a run has stored.
    pub fn is_redacted(&self, run: &str) -> bool {
        self.runs.get(run).is_some_and(|run| !run["redactedAt"].is_null())
    }

    /// Whether a remote agent works on a run.
    pub fn is_remote(&self, run: &str) -> bool {
        self.runs.get(run).is_some_and(|run| !run["remote"].is_null())
    }

    fn message_mut(&mut self, space: &str, seq: u64) -> Option<&mut Value> {
        self.messages.get_mut(space)?.get_mut(&seq)
    }

    /// All messages, with their spaces.
    pub fn all_messages(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.messages
            .iter()
            .flat_map(|(space, messages)| messages.values().map(move |message| (space, message)))
    }

    /// The run of a request to a model.
    pub fn run_of(&self, ask: &ModelRequest) -> Option<&str> {
        let agent = ask.agent.to_string();
        let is_it = |run: &Value| {
            run["agentId"] == agent.as_str()
                && run["messageId"] == ask.trigger.as_str()
                && run["source"] != "unanswered"
                && (run["source"] == "delegated") == ask.delegated
        };
        if let Some((id, _)) = self.runs.get_key_value(&ask.trigger) {
            return Some(id.as_str());
        }
        self.runs.iter().find(|(_, run)| is_it(run)).map(|(id, _)| id.as_str())
    }

    /// A call as its model made it, or `None` if no stored answer makes it.
    pub fn begun(&self, place: &(String, u64, u64)) -> Option<&Value> {
        let (run, step, index) = place;
        self.steps.get(&(run.clone(), *step))?["calls"].get(*index as usize)
    }

    /// All calls that models made, with their places.
    pub fn all_begun(&self) -> impl Iterator<Item = ((String, u64, u64), &Value)> {
        self.steps.iter().flat_map(|((run, step), stored)| {
            let calls = stored["calls"].as_array().into_iter().flatten();
            (0..).zip(calls).map(|(index, call)| ((run.clone(), *step, index), call))
        })
    }
}

/// The text of a message, or of the input of its card.
pub(crate) fn shown(message: &Value) -> &str {
    let text = if message["card"].is_null() {
        &message["text"]
    } else {
        &message["card"]["input"]["text"]
    };
    text.as_str().unwrap_or_default()
}

/// JSON that is stored as text.
pub(crate) fn parsed(text: &Value) -> Value {
    text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// How many entities reacted with each emoji, by an item.
pub(super) fn reaction_counts(item: &Value) -> Reactions {
    let mut counts = Reactions::new();
    for (emoji, _) in reactions_in(item) {
        *counts.entry(emoji).or_default() += 1;
    }
    counts
}

/// The reactions of an item: emoji and entities.
pub(super) fn reactions_in(item: &Value) -> Vec<(String, String)> {
    let names = item.as_object().into_iter().flatten().map(|(name, _)| name);
    let reaction = |name: &String| {
        let (hex, entity) = name.strip_prefix(REACTION)?.split_once('_')?;
        let pairs = hex.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
        let emoji = String::from_utf8(bytes.collect::<Option<Vec<_>>>()?).ok()?;
        Some((emoji, entity.to_owned()))
    };
    names.filter_map(reaction).collect()
}
