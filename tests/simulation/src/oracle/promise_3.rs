//! What an agent said or did through a built-in tool happens once, though its run may be started again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Evidence, Kept, kept::parsed};

/// Tools that change something.
const CHANGES: [&str; 12] = [
    "send_message",
    "set_memories",
    "set_plans",
    "delete_plans",
    "skip_response",
    "ask",
    "note",
    "stop_run",
    "absorb_run",
    "delegate",
    "charge",
    "order",
];
/// Tools whose calls everyone sees.
const VISIBLE: [&str; 4] = ["ask", "note", "order", "track"];

pub(super) fn what_an_agent_did_happened_once(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let kept = &evidence.kept;
    let mut said: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (_, message) in kept.all_messages().filter(|(_, message)| !message["runId"].is_null() && message["card"].is_null()) {
        said.entry(message["id"].as_str().unwrap_or_default()).or_default().push(message);
    }
    let mut remembered = kept.memories.clone();
    for ((run, step, index), call) in &kept.calls {
        let begun = kept.begun(&(run.clone(), *step, *index)).filter(|begun| begun["callId"] == call["callId"]);
        let Some(begun) = begun else {
            found.push(format!("the call {index} of step {step} of {run} has a result, and no answer asked for it"));
            continue;
        };
        if call["name"] == "set_memories" && call["status"] == "completed" {
            let input = parsed(&begun["input"]);
            let key = input["memories"][0]["key"].as_str().unwrap_or_default().to_owned();
            let agent = kept.runs[run]["agentId"].as_str().unwrap_or_default().to_owned();
            if !remembered.remove(&(agent, key.clone())) {
                found.push(format!("what {run} was to remember as {key} is not there"));
            }
        }
        if call["name"] != "send_message" || call["status"] != "completed" {
            continue;
        }
        let (output, input) = (parsed(&call["output"]), parsed(&begun["input"]));
        let messages = output["messageId"].as_str().and_then(|id| said.remove(id)).unwrap_or_default();
        if messages.len() != 1 {
            found.push(format!("what {run} said in call {index} of step {step} is kept {} times", messages.len()));
        }
        if messages.iter().any(|message| message["runId"] != run.as_str() || message["text"] != input["text"]) {
            found.push(format!("what {run} said in call {index} of step {step} is not what it wrote: {input}"));
        }
    }
    found.extend(
        said.iter().map(|(id, messages)| format!("{id} of {} is kept {} times, and no call made it", messages[0]["runId"], messages.len())),
    );
    found.extend(remembered.iter().map(|(agent, key)| format!("{agent} remembers {key}, and no call that was kept set it")));
    found.extend(each_visible_call_has_its_card(kept));
    found.extend(what_models_were_given_is_what_is_kept(evidence));
    if evidence.world.plan.writes {
        found.extend(went_on_without_a_change(kept));
    }
    // A completed run has done all that it was told to, unless a call ended it.
    for (id, run) in kept.runs.iter().filter(|(_, run)| run["status"] == "completed") {
        let calls = kept.calls.iter().filter(|((run, ..), _)| run == id).count();
        let begun: usize =
            kept.steps.iter().filter(|((run, _), _)| run == id).map(|(_, step)| step["calls"].as_array().map_or(0, Vec::len)).sum();
        let last = kept.steps.range((id.clone(), 0)..=(id.clone(), u64::MAX)).next_back();
        if run["endReason"] == "done" && !evidence.world.plan.writes && last.is_some_and(|(_, step)| step["calls"] != json!([])) {
            found.push(format!("{id} is done, and its model was not told what came of its last calls"));
        }
        if run["endReason"] == "done" && calls != begun {
            found.push(format!("{id} is done, with {calls} results of {begun} calls"));
        }
    }
    for text in found {
        evidence.complain(3, text);
    }
}

/// Steps that follow an answer none of whose calls changed anything, where an agent is to end then.
fn went_on_without_a_change(kept: &Kept) -> Vec<String> {
    let changes = |run: &str, step: u64| {
        let calls = kept.calls.range((run.to_owned(), step, 0)..=(run.to_owned(), step, u64::MAX));
        // People who were asked are heard, whatever became of it.
        let mut done = calls.map(|(_, call)| (call, call["name"].as_str().unwrap_or_default()));
        done.any(|(call, name)| {
            !call["answered"].is_null()
                || (["completed", "unknown"].iter().any(|status| call["status"] == *status) && CHANGES.contains(&name))
        })
    };
    let later = kept.steps.keys().filter(|(_, step)| *step > 0);
    let without = later.filter(|(run, step)| !changes(run, step - 1));
    without.map(|(run, step)| format!("{run} went on with step {step} though nothing was changed before it")).collect()
}

/// Calls that everyone sees have one card each, and each card shows a call: where the call was not refused.
fn each_visible_call_has_its_card(kept: &Kept) -> Vec<String> {
    let mut found = Vec::new();
    let mut cards: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (_, message) in kept.all_messages().filter(|(_, message)| !message["card"].is_null()) {
        cards.entry(message["card"]["callId"].as_str().unwrap_or_default()).or_default().push(message);
    }
    for (place, call) in &kept.calls {
        let was_refused = call["status"] == "failed" && call["answered"].is_null() && call["card"].is_null();
        if !VISIBLE.iter().any(|name| call["name"] == *name) || was_refused {
            continue;
        }
        let id = call["callId"].as_str().unwrap_or_default();
        let shown = cards.remove(id).unwrap_or_default();
        if shown.len() != 1 {
            found.push(format!("the call {id} of {} has {} cards", place.0, shown.len()));
        }
        let mut input = kept.begun(place).map(|begun| parsed(&begun["input"])).unwrap_or_default();
        input.as_object_mut().and_then(|input| input.remove("targetSpaceId"));
        for message in shown {
            let card = &message["card"];
            if message["runId"] != place.0.as_str() || card["name"] != call["name"] || parsed(&card["input"]["text"]) != input {
                found.push(format!("the card {} does not show the call {id} of {}: {card}", message["id"], place.0));
            }
        }
    }
    found.extend(cards.iter().map(|(call, shown)| format!("{} shows {call}, and no call of that id was kept", shown[0]["id"])));
    found
}

/// A model goes on from what came of its calls, and nothing else.
fn what_models_were_given_is_what_is_kept(evidence: &Evidence<'_>) -> Vec<String> {
    let outputs: BTreeMap<&str, &Value> =
        evidence.kept.calls.values().filter_map(|call| Some((call["callId"].as_str()?, &call["output"]))).collect();
    let mut found = Vec::new();
    for ask in &evidence.ledger.asks {
        for message in ask.before.iter().filter(|message| message.starts_with(r#"{"role":"tool_results""#)) {
            let message: Value = serde_json::from_str(message).unwrap_or_default();
            for result in message["results"].as_array().into_iter().flatten() {
                let kept = result["callId"].as_str().and_then(|call| outputs.get(call)).map(|output| parsed(output));
                if kept.as_ref() != Some(&result["output"]) {
                    found.push(format!(
                        "step {} of {} on {} was told {result} of a call, and {kept:?} is kept",
                        ask.step, ask.agent, ask.trigger
                    ));
                }
            }
        }
    }
    found
}
