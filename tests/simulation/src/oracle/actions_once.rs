//! Promise 3: the effect of a call happens once, even if another worker takes over its run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    oracle::{
        Evidence, Stored,
        cut_results::{is_cut, outputs},
        stored::parsed,
    },
    parameters::Parameters,
};

/// Tools that change something.
const CHANGES: [&str; 13] = [
    "send_message",
    "set_memories",
    "set_plans",
    "delete_plans",
    "skip_response",
    "ask",
    "draw",
    "note",
    "stop_run",
    "absorb_run",
    "delegate",
    "charge",
    "order",
];
/// Tools whose calls have cards.
const VISIBLE: [&str; 5] = ["ask", "draw", "note", "order", "track"];

pub(super) fn actions_of_agents_happen_once(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut found = each_effect_has_its_call(stored);
    found.extend(each_visible_call_has_its_card(stored));
    found.extend(models_get_the_stored_results(evidence));
    if evidence.env.parameters.writes {
        found.extend(steps_after_no_change(stored));
    }
    if evidence.env.parameters.ends_after_send {
        found.extend(steps_after_send(stored));
    }
    found.extend(incomplete_runs(stored, &evidence.env.parameters));
    found.extend(wrong_silence(stored));
    found.extend(reminders(stored));
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

/// Completed runs that lack results of their calls, though no call ended them. The plan says which
/// steps may end a run besides one without calls.
fn incomplete_runs(stored: &Stored, parameters: &Parameters) -> Vec<String> {
    let mut found = Vec::new();
    let of_models = stored.runs.iter().filter(|(id, _)| !stored.is_remote(id));
    for (id, run) in of_models.filter(|(_, run)| run["status"] == "completed") {
        let last = stored.steps.range((id.clone(), 0)..=(id.clone(), u64::MAX)).next_back();
        // Calls after the one that ended the run are never made.
        let skipped = last.and_then(|((_, step), last)| {
            let begun = last["calls"].as_array()?.len();
            Some(begun - 1 - skips(stored, id, *step)?)
        });
        let may_end = parameters.writes
            || skipped.is_some()
            || (parameters.ends_after_send
                && last.is_some_and(|((_, step), _)| only_sent(stored, id, *step)))
            || last.is_none_or(|(_, step)| step["calls"] == json!([]));
        if run["endReason"] == "done" && !may_end {
            found.push(format!(
                "{id} is done, but its model did not get the results of its last calls"
            ));
        }
        let calls = stored.calls.iter().filter(|((run, ..), _)| run == id).count();
        let begun: usize = stored
            .steps
            .iter()
            .filter(|((run, _), _)| run == id)
            .map(|(_, step)| step["calls"].as_array().map_or(0, Vec::len))
            .sum();
        if run["endReason"] == "done" && calls + skipped.unwrap_or(0) != begun {
            found.push(format!("{id} is done, but has {calls} results of {begun} calls"));
        }
    }
    found
}

/// Runs that ended in silence although they had posted something, or the other way round.
fn wrong_silence(stored: &Stored) -> Vec<String> {
    let posted: BTreeSet<&str> =
        stored.all_messages().filter_map(|(_, message)| message["runId"].as_str()).collect();
    let skipped = stored.runs.iter().filter_map(|(id, run)| {
        let ((_, step), _) =
            stored.steps.range((id.clone(), 0)..=(id.clone(), u64::MAX)).next_back()?;
        skips(stored, id, *step).map(|_| (id.as_str(), run))
    });
    skipped
        .filter(|(id, run)| {
            let expected = if posted.contains(id) { "done" } else { "skipped" };
            run["status"] == "completed"
                && ["done", "skipped"].iter().any(|reason| run["endReason"] == *reason)
                && run["endReason"] != expected
        })
        .map(|(id, run)| {
            format!("{id} skipped its answer and ended as {}, against its posts", run["endReason"])
        })
        .collect()
}

/// The index of the call that ended a run at this step without an answer.
fn skips(stored: &Stored, run: &str, step: u64) -> Option<usize> {
    let calls = stored.calls.range((run.to_owned(), step, 0)..=(run.to_owned(), step, u64::MAX));
    let mut skips =
        calls.filter(|(_, call)| call["name"] == "skip_response" && call["status"] == "completed");
    skips.next().map(|((_, _, index), _)| *index as usize)
}

/// Steps after a step that changed nothing, if such a step is to end the run.
fn steps_after_no_change(stored: &Stored) -> Vec<String> {
    let changes = |run: &str, step: u64| {
        let calls =
            stored.calls.range((run.to_owned(), step, 0)..=(run.to_owned(), step, u64::MAX));
        // An answer of a person counts as a change.
        let mut done = calls.map(|(_, call)| (call, call["name"].as_str().unwrap_or_default()));
        done.any(|(call, name)| {
            !call["answered"].is_null()
                || (["completed", "unknown"].iter().any(|status| call["status"] == *status)
                    && CHANGES.contains(&name))
        })
    };
    let later = stored.steps.iter().filter(|((_, index), step)| *index > 0 && !is_reminded(step));
    let without = later.filter(|((run, index), _)| !changes(run, index - 1));
    without
        .map(|((run, index), _)| {
            format!("{run} continued with step {index}, but the step before it changed nothing")
        })
        .collect()
}

/// Steps after a step that only posted messages, if such a step is to end the run.
fn steps_after_send(stored: &Stored) -> Vec<String> {
    let later = stored.steps.keys().filter(|(_, index)| *index > 0);
    later
        .filter(|(run, index)| only_sent(stored, run, index - 1))
        .map(|(run, index)| {
            format!("{run} continued with step {index}, but the step before it posted its answer")
        })
        .collect()
}

/// Whether all calls of a step posted a message.
fn only_sent(stored: &Stored, run: &str, step: u64) -> bool {
    let calls = stored.calls.range((run.to_owned(), step, 0)..=(run.to_owned(), step, u64::MAX));
    let sent = |call: &Value| call["name"] == "send_message" && call["status"] == "completed";
    let (mut made, begun) = (0, &stored.steps[&(run.to_owned(), step)]["calls"]);
    for (_, call) in calls {
        if !sent(call) {
            return false;
        }
        made += 1;
    }
    made > 0 && begun.as_array().map_or(0, Vec::len) == made
}

/// Whether the model was reminded before a step that its text was not posted.
fn is_reminded(step: &Value) -> bool {
    let messages = step["systemMessages"].as_array();
    messages.into_iter().flatten().any(|message| message["watcher"] == "unsaid")
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

/// Reminders without reason, missing or repeated: a run goes on after an answer without calls only
/// with a reminder, and only once. An answer that was cut off is stored without its reminder.
fn reminders(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    let mut reminded: BTreeMap<&str, usize> = BTreeMap::new();
    for ((run, index), step) in &stored.steps {
        let before =
            index.checked_sub(1).and_then(|before| stored.steps.get(&(run.clone(), before)));
        let is_due = before.is_some_and(|step| step["calls"] == json!([]));
        if is_reminded(step) != is_due && step["partial"] != true {
            found.push(format!("step {index} of {run} is reminded or not, against its reason"));
        }
        *reminded.entry(run).or_default() += usize::from(is_reminded(step));
    }
    let often = reminded.into_iter().filter(|(_, times)| *times > 1);
    found.extend(often.map(|(run, times)| format!("{run} was reminded {times} times")));
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
        if !VISIBLE.iter().any(|name| call["name"] == *name) || was_refused {
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
        for message in shown {
            let card = &message["card"];
            if message["runId"] != place.0.as_str()
                || card["name"] != call["name"]
                || parsed(&card["input"]["text"]) != input
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
    for ask in &evidence.ledger.model_requests {
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
