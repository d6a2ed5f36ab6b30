//! Promise 3: the effect of a call happens once, even if another worker takes over its run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    ledger::{DELETED, ModelRequest},
    oracle::{
        Evidence, Stored,
        cut_results::{is_cut, outputs},
        stored::parsed,
    },
};

/// Tools whose calls have cards.
const VISIBLE: [&str; 5] = ["ask", "draw", "note", "order", "track"];

pub(super) fn actions_of_agents_happen_once(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut found = each_effect_has_its_call(stored);
    found.extend(each_visible_call_has_its_card(stored));
    found.extend(models_get_the_stored_results(evidence));
    found.extend(wrong_partials(stored));
    for text in found {
        evidence.report(3, text);
    }
}

/// Messages and memories are the effects of exactly one call each.
fn each_effect_has_its_call(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    let mut said: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (_, message) in stored
        .all_messages()
        .filter(|(_, message)| !message["runId"].is_null() && message["card"].is_null())
        .filter(|(_, message)| message["partial"] != true)
    {
        said.entry(message["id"].as_str().unwrap_or_default()).or_default().push(message);
    }
    let mut remembered = stored.memories.clone();
    for ((run, step, index), call) in &stored.calls {
        if stored.is_remote(run) {
            // `remote` compares its messages with what the agent posted.
            let output = parsed(&call["output"]);
            said.remove(output["messageId"].as_str().unwrap_or_default());
            continue;
        }
        let begun = stored
            .begun(&(run.clone(), *step, *index))
            .filter(|begun| begun["callId"] == call["callId"]);
        let Some(begun) = begun else {
            found.push(format!(
                "the call {index} of step {step} of {run} has a result, but no answer makes it"
            ));
            continue;
        };
        if call["name"] == "set_memories" && call["status"] == "completed" {
            let input = parsed(&begun["input"]);
            let key = input["memories"][0]["key"].as_str().unwrap_or_default().to_owned();
            let agent = stored.runs[run]["agentId"].as_str().unwrap_or_default().to_owned();
            if !remembered.remove(&(agent, key.clone())) {
                found.push(format!("the memory {key} that {run} set is not stored"));
            }
        }
        if call["name"] == "send_message" && call["status"] == "completed" {
            let output = parsed(&call["output"]);
            let messages = output["messageId"].as_str().and_then(|id| said.remove(id));
            let input = parsed(&begun["input"]);
            found.extend(
                wrong_message(run, &input, &messages.unwrap_or_default())
                    .map(|what| format!("call {index} of step {step} of {run} {what}")),
            );
        }
    }
    found.extend(said.iter().map(|(id, messages)| {
        format!(
            "{id} of {} is stored {} times, but no call made it",
            messages[0]["runId"],
            messages.len()
        )
    }));
    found.extend(
        remembered
            .iter()
            .map(|(agent, key)| format!("{agent} has the memory {key}, but no stored call set it")),
    );
    found
}

/// What is wrong with the stored messages of one call.
fn wrong_message(run: &str, input: &Value, messages: &[&Value]) -> Option<String> {
    let [message] = messages else {
        return Some(format!("has {} stored messages", messages.len()));
    };
    (message["runId"] != run || message["text"] != input["text"])
        .then(|| format!("stored {message} for the input {input}"))
}

/// Messages that are stored twice, and partial ones of runs that were not canceled, or that trigger
/// somebody.
fn wrong_partials(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    let of_runs = stored.all_messages().filter(|(_, message)| !message["runId"].is_null());
    for (_, message) in of_runs {
        if !known.insert(message["id"].to_string()) {
            found.push(format!("{} is stored twice", message["id"]));
        }
        if message["partial"] != true {
            continue;
        }
        let run = message["runId"].as_str().and_then(|run| stored.runs.get(run));
        if run.is_some_and(|run| run["status"] != "canceled") {
            found.push(format!("{message} is partial, but its run was not canceled"));
        }
        if message["dispatch"] != json!([]) {
            found.push(format!("a partial message triggered runs: {message}"));
        }
    }
    let partial = stored.steps.iter().filter(|(_, step)| step["partial"] == true);
    for ((run, index), _) in partial {
        if stored.runs.get(run).is_some_and(|run| run["status"] != "canceled") {
            found.push(format!("step {index} of {run} is partial, but the run was not canceled"));
        }
    }
    found
}

/// Visible calls have one card each, unless they were refused, and each card shows a call.
fn each_visible_call_has_its_card(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    let mut cards: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    let whole = |message: &Value| !message["card"].is_null() && message["partial"] != true;
    for (_, message) in stored.all_messages().filter(|(_, message)| whole(message)) {
        cards
            .entry(message["card"]["callId"].as_str().unwrap_or_default())
            .or_default()
            .push(message);
    }
    for (place, call) in &stored.calls {
        let was_refused =
            call["status"] == "failed" && call["answered"].is_null() && call["card"].is_null();
        let edited = parsed(&call["approval"]["input"]);
        let is_shown = VISIBLE.iter().any(|name| call["name"] == *name)
            || !call["approval"].is_null() && !call["card"].is_null();
        if !is_shown || was_refused {
            continue;
        }
        let id = call["callId"].as_str().unwrap_or_default();
        let shown = cards.remove(id).unwrap_or_default();
        if shown.len() != 1 {
            found.push(format!("the call {id} of {} has {} cards", place.0, shown.len()));
        }
        let mut input =
            stored.begun(place).map(|begun| parsed(&begun["input"])).unwrap_or_default();
        input.as_object_mut().and_then(|input| input.remove("targetSpaceId"));
        if !edited.is_null() {
            input = edited;
        }
        for message in shown {
            let card = &message["card"];
            let shown = parsed(&card["input"]["text"]);
            // It has lost its input with the message that the call has edited.
            let is_cut = stored.is_redacted(&place.0)
                && shown["text"].as_str().is_some_and(|text| text.ends_with(DELETED));
            if message["runId"] != place.0.as_str()
                || card["name"] != call["name"]
                || (shown != input && !is_cut)
            {
                found.push(format!(
                    "the card {} does not show the call {id} of {}: {card}",
                    message["id"], place.0
                ));
            }
        }
    }
    found.extend(cards.iter().map(|(call, shown)| {
        format!("{} shows {call}, but no call with that id is stored", shown[0]["id"])
    }));
    found
}

/// A model gets the stored results of its calls, and no others.
fn models_get_the_stored_results(evidence: &Evidence<'_>) -> Vec<String> {
    let outputs = outputs(&evidence.stored);
    let mut found = Vec::new();
    // A run that resumes after a deletion gets what is left of its results.
    let is_whole = |ask: &&ModelRequest| !evidence.stored.is_redacted(&ask.run_id);
    for ask in evidence.ledger.model_requests.iter().filter(is_whole) {
        for message in
            ask.before.iter().filter(|message| message.starts_with(r#"{"role":"tool_results""#))
        {
            let message: Value = serde_json::from_str(message).unwrap_or_default();
            for result in message["results"].as_array().into_iter().flatten() {
                let stored = result["callId"]
                    .as_str()
                    .and_then(|call| outputs.get(call))
                    .map(|output| parsed(output));
                let is_stored = stored.as_ref().is_some_and(|stored| {
                    *stored == result["output"] || is_cut(&result["output"], stored)
                });
                if !is_stored {
                    found.push(format!(
                        "step {} of {} on {} got the result {result}, but {stored:?} is stored",
                        ask.step, ask.agent, ask.trigger
                    ));
                }
            }
        }
    }
    found
}
