//! Messages and summaries as they were at each moment, for what prompts showed of them, and what
//! messages and runs had before a deletion took it away.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::Instant;

use crate::{ledger::DELETED, storage::plain_item};

/// The items of a run that a deletion changes or deletes, and that the oracle reads.
const OF_RUNS: [&str; 5] = ["STEP#", "CALL#", "FORM#", "TRIGGER", "FORK"];
/// The attributes from which a deletion takes texts. It counts in `cuts` how often it did.
const CUT: [&str; 7] = ["text", "calls", "systemMessages", "output", "said", "files", "approval"];

/// A state of an item.
#[derive(Clone, Debug)]
pub struct ItemState {
    /// When the item got this state.
    pub at: Instant,
    /// The item, as plain JSON. Null if it was deleted.
    pub item: Value,
}

/// The states of messages and summaries, in order.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Messages, as prompts call them: `spc_…#17`.
    pub messages: BTreeMap<String, Vec<ItemState>>,
    /// Summaries, with the claims on them, by their spaces.
    pub summaries: BTreeMap<String, Vec<ItemState>>,
    /// The reactions to messages, as prompts call these.
    pub reactions: BTreeMap<String, Vec<ItemState>>,
    /// Messages as they were before their deletion.
    pub undeleted: BTreeMap<String, Value>,
    /// The first whole text of each message whose text has an item of its own.
    pub texts: BTreeMap<String, Value>,
    /// Decisions that have items of their own, as they were before the deletion.
    pub dispatches: BTreeMap<String, Value>,
    /// The items of runs with all that they ever had, by partition and sort key.
    pub of_runs: BTreeMap<(String, String), Value>,
}

impl Shown {
    /// Adds the state of an item after a write, if prompts show it. `part` is the write, and `read`
    /// returns the item.
    pub(super) fn note(&mut self, part: &Value, read: impl Fn(&Value) -> Value) {
        let update = &part["Update"];
        let put = &part["Put"]["Item"];
        let keys = [put, &update["Key"], &part["Delete"]["Key"]];
        let Some(key) = keys.into_iter().find(|key| key.is_object()) else { return };
        let sk = key["SK"]["S"].as_str().unwrap_or_default();
        let pk = key["PK"]["S"].as_str().unwrap_or_default();
        if pk.starts_with("RUN#") && OF_RUNS.iter().any(|kind| sk.starts_with(kind)) {
            return self.note_of_run((pk.to_owned(), sk.to_owned()), read(key));
        }
        let Some(space) = pk.strip_prefix("SPACE#") else { return };
        if sk == "SUMMARY" {
            let states = self.summaries.entry(space.to_owned()).or_default();
            return states.push(ItemState { at: Instant::now(), item: read(key) });
        }
        let Some((kind, number)) = sk.split_once('#') else { return };
        let Ok(number) = number.parse::<u64>() else { return };
        let name = format!("{space}#{number}");
        if kind == "REACT" {
            let states = self.reactions.entry(name).or_default();
            return states.push(ItemState { at: Instant::now(), item: read(key) });
        }
        if !part["Delete"].is_null() {
            return;
        }
        match kind {
            "MSG" => self.note_message(name, put.is_object(), update, read(key)),
            "TEXT" => {
                self.texts.entry(name).or_insert_with(|| read(key));
            }
            "WOKEN" if !self.is_deleted(&name) => {
                self.dispatches.insert(name, read(key)["dispatch"].take());
            }
            _ => {}
        }
    }

    fn note_message(&mut self, name: String, is_put: bool, update: &Value, item: Value) {
        // Whom it triggered and due times change nothing that a prompt shows.
        let expression = update["UpdateExpression"].as_str().unwrap_or_default();
        let changes = ["#card = ", "#card.#", "#deleted", "#editedAt", "#text"];
        let changes = changes.iter().any(|change| expression.contains(change));
        if item["deleted"].is_null() && item.is_object() {
            self.undeleted.insert(name.clone(), item.clone());
        }
        if is_put || changes {
            let state = ItemState { at: Instant::now(), item };
            self.messages.entry(name).or_default().push(state);
        }
    }

    /// Whether the newest state of a message is a tombstone.
    fn is_deleted(&self, message: &str) -> bool {
        let last = self.messages.get(message).and_then(|states| states.last());
        last.is_some_and(|state| !state.item["deleted"].is_null())
    }

    fn note_of_run(&mut self, key: (String, String), mut item: Value) {
        let Some(fields) = item.as_object_mut() else { return };
        let is_cut = !fields.get("cuts").is_none_or(Value::is_null);
        if let Some(known) = self.of_runs.get(&key).filter(|_| is_cut) {
            for name in CUT {
                if !known[name].is_null() {
                    fields.insert(name.to_owned(), known[name].clone());
                }
            }
        }
        self.of_runs.insert(key, item);
    }

    /// Whether a write of a run takes a deleted text out of what was stored before.
    pub(super) fn redacts(&self, pk: &str, sk: &str, item: &Value) -> bool {
        let is_known = self.of_runs.contains_key(&(pk.to_owned(), sk.to_owned()));
        // A prompt is compressed, and first stored with a step.
        is_known && item.to_string().contains(DELETED) || sk == "PROMPT" && self.has_step(pk)
    }

    fn has_step(&self, pk: &str) -> bool {
        let first = (pk.to_owned(), "STEP#".to_owned());
        let next = self.of_runs.range(first..).next();
        next.is_some_and(|((of, sk), _)| of == pk && sk.starts_with("STEP#"))
    }
}

/// An item as plain JSON, or null if there is none.
pub(super) fn read(item: &Value) -> Value {
    if item.is_object() { plain_item(item) } else { Value::Null }
}
