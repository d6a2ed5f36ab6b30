//! Messages and summaries as they were at each moment, for what prompts showed of them.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::Instant;

use crate::storage::plain_item;

/// A state of an item.
#[derive(Clone, Debug)]
pub struct ItemState {
    /// When the item got this state.
    pub at: Instant,
    /// The item, as plain JSON.
    pub item: Value,
}

/// The states of messages and summaries, in order.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Messages, as prompts call them: `spc_…#17`.
    pub messages: BTreeMap<String, Vec<ItemState>>,
    /// Summaries, with the claims on them, by their spaces.
    pub summaries: BTreeMap<String, Vec<ItemState>>,
}

impl Shown {
    /// Adds the state of an item after a write, if prompts show it. `part` is the write, and `read`
    /// returns the item.
    pub(super) fn note(&mut self, part: &Value, read: impl FnOnce(&Value) -> Value) {
        let update = &part["Update"];
        let put = &part["Put"]["Item"];
        let key = if put.is_null() { &update["Key"] } else { put };
        let Some(space) = key["PK"]["S"].as_str().and_then(|pk| pk.strip_prefix("SPACE#")) else {
            return;
        };
        let sk = key["SK"]["S"].as_str().unwrap_or_default();
        let number = sk.strip_prefix("MSG#").and_then(|number| number.parse::<u64>().ok());
        // Decisions and due times change nothing that a prompt shows.
        let changes_card = || {
            let expression = update["UpdateExpression"].as_str();
            expression.is_some_and(|text| text.contains("#card.#status = "))
        };
        let states = match number {
            Some(number) if put.is_object() || changes_card() => {
                self.messages.entry(format!("{space}#{number}")).or_default()
            }
            None if sk == "SUMMARY" => self.summaries.entry(space.to_owned()).or_default(),
            _ => return,
        };
        let item = if put.is_object() { plain_item(put) } else { read(key) };
        states.push(ItemState { at: Instant::now(), item });
    }
}
