//! Promise 3: a run goes on as long as its model has results to read, and then ends. A run that a
//! message triggered never ends by a message to another space.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    oracle::{Evidence, Stored, stored::parsed},
    parameters::Parameters,
};

/// Tools that change something.
const CHANGES: [&str; 16] = [
    "send_message",
    "react",
    "edit_message",
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
    "transfer",
];

pub(super) fn runs_end_after_their_last_results(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let parameters = &evidence.env.parameters;
    let mut found = incomplete_runs(stored, parameters);
    if parameters.writes {
        found.extend(steps_after_no_change(stored));
    }
    if parameters.ends_after_send {
        found.extend(steps_after_send(stored));
    }
    found.extend(ends_elsewhere(stored));
    found.extend(wrong_silence(stored));
    found.extend(reminders(stored));
    for text in found {
        evidence.report(3, text);
    }
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
            let skips = skips(stored, id, *step)?;
            Some(last["calls"].as_array()?.len().saturating_sub(skips + 1))
        });
        let may_end = parameters.writes
            || skipped.is_some()
            || (parameters.ends_after_send
                && last.is_some_and(|((_, step), _)| only_answered(stored, id, *step)))
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
    let posted = stored.all_messages().filter_map(|(_, message)| message["runId"].as_str());
    // A reaction is an answer too.
    let reacted = stored.calls.iter().filter(|(_, call)| has_reacted(call));
    let posted: BTreeSet<&str> = posted.chain(reacted.map(|((run, ..), _)| run.as_str())).collect();
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

/// Steps after a step that only posted answers, if such a step is to end the run.
fn steps_after_send(stored: &Stored) -> Vec<String> {
    let later = stored.steps.keys().filter(|(_, index)| *index > 0);
    later
        .filter(|(run, index)| only_answered(stored, run, index - 1))
        .map(|(run, index)| {
            format!("{run} continued with step {index}, but the step before it posted its answer")
        })
        .collect()
}

/// Whether all calls of a step posted a message to the space whose message triggered the run or
/// reacted to one there, and none said that the run goes on.
fn only_answered(stored: &Stored, run: &str, step: u64) -> bool {
    let home = stored.runs.get(run).and_then(|run| run["spaceId"].as_str());
    let answers = |call: &Value| {
        (has_sent(call) || has_reacted(call))
            && call["activeSpace"].as_str() == home
            && !goes_on(stored, run, call)
    };
    // A mutant may have lost the step.
    let begun = stored.steps.get(&(run.to_owned(), step)).map_or(&Value::Null, |it| &it["calls"]);
    let made = calls_of(stored, run, step).count();
    home.is_some()
        && made > 0
        && begun.as_array().map_or(0, Vec::len) == made
        && calls_of(stored, run, step).all(answers)
}

/// Whether a call says that the run goes on after its message, as people edited it last.
fn goes_on(stored: &Stored, run: &str, call: &Value) -> bool {
    let number = |name: &str| call[name].as_u64().unwrap_or_default();
    let begun = stored.begun(&(run.to_owned(), number("step"), number("index")));
    let edited = Some(&call["approval"]["input"]).filter(|input| !input.is_null());
    let input = edited.or(begun.map(|begun| &begun["input"]));
    input.is_some_and(|input| parsed(input)["more"] == true)
}

/// The calls of a step that were made.
fn calls_of<'a>(stored: &'a Stored, run: &str, step: u64) -> impl Iterator<Item = &'a Value> {
    let calls = stored.calls.range((run.to_owned(), step, 0)..=(run.to_owned(), step, u64::MAX));
    calls.map(|(_, call)| call)
}

fn has_sent(call: &Value) -> bool {
    call["name"] == "send_message" && call["status"] == "completed"
}

fn has_reacted(call: &Value) -> bool {
    call["name"] == "react" && call["status"] == "completed"
}

/// Runs that a message triggered and that ended as done with a message to another space.
fn ends_elsewhere(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    for (id, run) in stored.runs.iter().filter(|(_, run)| run["endReason"] == "done") {
        let last = stored.steps.range((id.clone(), 0)..=(id.clone(), u64::MAX)).next_back();
        let Some(((_, step), _)) = last else { continue };
        let home = &run["spaceId"];
        let elsewhere = |call: &Value| has_sent(call) && call["activeSpace"] != *home;
        if !home.is_null()
            && skips(stored, id, *step).is_none()
            && calls_of(stored, id, *step).any(elsewhere)
        {
            found.push(format!("{id} was triggered in {home}, and ended by a message elsewhere"));
        }
    }
    found
}

/// Whether the model was reminded before a step that its text was not posted.
fn is_reminded(step: &Value) -> bool {
    let messages = step["systemMessages"].as_array();
    messages.into_iter().flatten().any(|message| message["watcher"] == "unsaid")
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
