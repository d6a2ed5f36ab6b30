//! What an agent said or did through a built-in tool happens once, though its run may be started again.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Evidence, Kept};

pub(super) fn what_an_agent_did_happened_once(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let kept = &evidence.kept;
    let mut said: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (_, message) in kept.all_messages().filter(|(_, message)| !message["runId"].is_null()) {
        said.entry(message["id"].as_str().unwrap_or_default()).or_default().push(message);
    }
    let mut remembered = kept.memories.clone();
    for ((run, step, index), call) in &kept.calls {
        let begun = kept.steps.get(&(run.clone(), *step)).map(|step| &step["calls"][*index as usize]);
        let Some(begun) = begun.filter(|begun| begun["callId"] == call["callId"]) else {
            found.push(format!("the call {index} of step {step} of {run} has a result, and no answer asked for it"));
            continue;
        };
        if call["name"] == "set_memories" && call["status"] == "completed" {
            let input: Value = begun["input"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            let key = input["memories"][0]["key"].as_str().unwrap_or_default().to_owned();
            let agent = kept.runs[run]["agentId"].as_str().unwrap_or_default().to_owned();
            if !remembered.remove(&(agent, key.clone())) {
                found.push(format!("what {run} was to remember as {key} is not there"));
            }
        }
        if call["name"] != "send_message" || call["status"] != "completed" {
            continue;
        }
        let output: Value = call["output"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let input: Value = begun["input"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
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
    if evidence.world.plan.writes {
        found.extend(went_on_without_a_change(kept));
    }
    // A completed run has done all that it was told to, unless a call ended it.
    for (id, run) in kept.runs.iter().filter(|(_, run)| run["status"] == "completed") {
        let calls = kept.calls.iter().filter(|((run, ..), _)| run == id).count();
        let begun: usize =
            kept.steps.iter().filter(|((run, _), _)| run == id).map(|(_, step)| step["calls"].as_array().map_or(0, Vec::len)).sum();
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
        let mut done = calls.filter(|(_, call)| call["status"] == "completed").map(|(_, call)| call["name"].as_str().unwrap_or_default());
        done.any(|name| ["send_message", "set_memories", "skip_response"].contains(&name))
    };
    let later = kept.steps.keys().filter(|(_, step)| *step > 0);
    let without = later.filter(|(run, step)| !changes(run, step - 1));
    without.map(|(run, step)| format!("{run} went on with step {step} though nothing was changed before it")).collect()
}
