//! What the table holds at the end, sorted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::ledger::Ask;

/// What the table holds at the end.
#[derive(Debug, Default)]
pub struct Kept {
    /// Messages by space and number.
    pub messages: BTreeMap<String, BTreeMap<u64, Value>>,
    /// The last number of each space.
    pub heads: BTreeMap<String, u64>,
    /// Settings of spaces.
    pub spaces: BTreeMap<String, Value>,
    /// Members, by space and entity.
    pub members: BTreeMap<(String, String), Value>,
    /// Runs.
    pub runs: BTreeMap<String, Value>,
    /// Model answers, by run and step.
    pub steps: BTreeMap<(String, u64), Value>,
    /// Calls, by run, step and place.
    pub calls: BTreeMap<(String, u64, u64), Value>,
    /// What was asked of people, by run and call.
    pub forms: BTreeMap<(String, String), Value>,
    /// Copies of runs that are thought to be active: agent and run.
    pub active: Vec<(String, String)>,
    /// What someone still has to come back to.
    pub due: Vec<String>,
    /// What agents remember: agent and key.
    pub memories: BTreeSet<(String, String)>,
    /// What plans said when they fired, by run.
    pub fired: BTreeMap<String, Value>,
    /// What services sent, with its payload.
    pub deliveries: BTreeMap<String, Value>,
    /// Who was retired.
    pub retired: BTreeSet<String>,
}

impl Kept {
    /// Sorts items.
    pub fn of(items: &[Value]) -> Self {
        let mut kept = Self::default();
        let mut texts = BTreeMap::new();
        let mut woken = BTreeMap::new();
        let mut payloads = BTreeMap::new();
        for item in items {
            let (Some(pk), Some(sk)) = (item["PK"].as_str(), item["SK"].as_str()) else { continue };
            let (kind, id) = pk.split_once('#').unwrap_or((pk, ""));
            let numbers: Vec<u64> = sk.split('#').skip(1).filter_map(|part| part.parse().ok()).collect();
            if !item["dueAt"].is_null() {
                kept.due.push(format!("{pk}/{sk}"));
            }
            match (kind, sk.split('#').next().unwrap_or_default()) {
                ("SPACE", "MSG") => _ = kept.messages.entry(id.into()).or_default().insert(numbers[0], item.clone()),
                ("SPACE", "TEXT") => _ = texts.insert((id.to_owned(), numbers[0]), item["text"].clone()),
                ("SPACE", "WOKEN") => _ = woken.insert((id.to_owned(), numbers[0]), item["dispatch"].clone()),
                ("SPACE", "HEAD") => _ = kept.heads.insert(id.into(), item["seq"].as_u64().unwrap_or(0)),
                ("SPACE", "META") => _ = kept.spaces.insert(id.into(), item.clone()),
                ("SPACE", "MEMBER") => _ = kept.members.insert((id.into(), sk[7..].into()), item.clone()),
                ("RUN", "META") => _ = kept.runs.insert(id.into(), item.clone()),
                ("RUN", "TRIGGER") if !item["planId"].is_null() => _ = kept.fired.insert(id.into(), item.clone()),
                ("DLV", "META") => _ = kept.deliveries.insert(id.into(), item.clone()),
                ("DLV", "PAYLOAD") => _ = payloads.insert(id.to_owned(), item["payload"].clone()),
                ("RUN", "STEP") => _ = kept.steps.insert((id.into(), numbers[0]), item.clone()),
                ("RUN", "FORM") => _ = kept.forms.insert((id.into(), sk[5..].into()), item.clone()),
                ("RUN", "CALL") => _ = kept.calls.insert((id.into(), numbers[0], numbers[1]), item.clone()),
                ("ENTITY", "META") if !item["retiredAt"].is_null() => _ = kept.retired.insert(id.into()),
                ("ENTITY", "CTX") if sk.starts_with("CTX#MEMORY#") => _ = kept.memories.insert((id.into(), sk[11..].into())),
                ("ENTITY", "CTX") => kept.active.extend(sk.strip_prefix("CTX#ACTIVE#").map(|run| (id.to_owned(), run.to_owned()))),
                _ => {}
            }
        }
        for (delivery, payload) in payloads {
            // Without its delivery it is nothing.
            kept.deliveries.entry(delivery).or_insert(Value::Null)["payload"] = payload;
        }
        for ((space, seq), text) in texts {
            if let Some(message) = kept.messages.get_mut(&space).and_then(|messages| messages.get_mut(&seq)) {
                // That of a card is its form's schema.
                message["text"] = if text.is_null() { message["text"].take() } else { text };
            }
        }
        for ((space, seq), dispatch) in woken {
            if let Some(message) = kept.messages.get_mut(&space).and_then(|messages| messages.get_mut(&seq)) {
                message["dispatch"] = dispatch;
            }
        }
        kept
    }

    /// All messages, with their spaces.
    pub fn all_messages(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.messages.iter().flat_map(|(space, messages)| messages.values().map(move |message| (space, message)))
    }

    /// The run that asked a model.
    pub fn run_of(&self, ask: &Ask) -> Option<&str> {
        let agent = ask.agent.to_string();
        let is_it = |run: &Value| {
            run["agentId"] == agent.as_str() && run["messageId"] == ask.trigger.as_str() && (run["source"] == "delegated") == ask.delegated
        };
        if let Some((id, _)) = self.runs.get_key_value(&ask.trigger) {
            return Some(id.as_str());
        }
        self.runs.iter().find(|(_, run)| is_it(run)).map(|(id, _)| id.as_str())
    }

    /// A call as its model made it; none where no answer that was kept makes it.
    pub fn begun(&self, (run, step, index): &(String, u64, u64)) -> Option<&Value> {
        self.steps.get(&(run.clone(), *step))?["calls"].get(*index as usize)
    }

    /// All calls that models made, with their places.
    pub fn all_begun(&self) -> impl Iterator<Item = ((String, u64, u64), &Value)> {
        self.steps.iter().flat_map(|((run, step), kept)| {
            let calls = kept["calls"].as_array().into_iter().flatten();
            (0..).zip(calls).map(|(index, call)| ((run.clone(), *step, index), call))
        })
    }
}

/// What a message says; of a card, what was called.
pub(crate) fn shown(message: &Value) -> &str {
    let text = if message["card"].is_null() { &message["text"] } else { &message["card"]["input"]["text"] };
    text.as_str().unwrap_or_default()
}

/// JSON that is kept as text.
pub(crate) fn parsed(text: &Value) -> Value {
    text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
