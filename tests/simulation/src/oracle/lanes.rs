//! Promise 10: an agent never has more runs at work than it has slots, the runs of a lane work one
//! after the other in the order of their messages, and no ended run keeps its turn. Promise 1: a
//! message whose run never started is answered by another run that had not ended, or was replaced
//! by a newer one.

use serde_json::Value;

use crate::oracle::Evidence;

pub(super) fn each_run_works_at_its_turn(evidence: &mut Evidence<'_>) {
    let storage = &evidence.env.storage;
    let mut found: Vec<String> = storage.out_of_turn().into_iter().collect();
    for (agent, most) in storage.most_at_once() {
        if most > evidence.env.parameters.max_runs {
            found.push(format!("{agent} had {most} runs at work"));
        }
    }
    let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    for (agent, slots) in &evidence.stored.slots {
        if !is_empty(&slots["held"]) || !is_empty(&slots["waiting"]) {
            found.push(format!("ended runs of {agent} have slots: {slots}"));
        }
    }
    for ((space, agent), lane) in &evidence.stored.lanes {
        if !is_empty(&lane["runs"]) && !evidence.stored.is_deleted(space) {
            found.push(format!("ended runs of {agent} are in its lane in {space}: {lane}"));
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}

pub(super) fn runs_that_never_start_say_why(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let runs = &evidence.stored.runs;
    for (id, run) in runs {
        let reason = run["endReason"].as_str().unwrap_or_default();
        let mode = evidence.env.parameters.mode;
        let expected = match reason {
            "coalesced" => "coalesce",
            "superseded" => "latest",
            _ => continue,
        };
        if mode != expected {
            found.push(format!("{id} is {reason} in the mode {mode}"));
        }
        if reason == "superseded" {
            let is_newer = |other: &&Value| {
                other["agentId"] == run["agentId"]
                    && other["spaceId"] == run["spaceId"]
                    && other["seq"].as_u64() > run["seq"].as_u64()
            };
            if !runs.values().any(|other| is_newer(&other)) {
                found.push(format!("{id} was replaced, and no newer message triggered its agent"));
            }
            continue;
        }
        let into = &runs.get(run["intoRunId"].as_str().unwrap_or_default());
        let answers = |other: &&Value| {
            let joined = other["joined"].as_array().into_iter().flatten();
            other["agentId"] == run["agentId"]
                && other["spaceId"] == run["spaceId"]
                && joined.chain([&other["seq"]]).any(|seq| *seq == run["seq"])
        };
        if !into.is_some_and(|other| answers(&other)) {
            found.push(format!("{id} joined a run that does not answer its message"));
        }
        let writes = |run: &str| evidence.env.storage.run_writes(run);
        let ended = writes(run["intoRunId"].as_str().unwrap_or_default()).ended;
        let joined = writes(id).created;
        if joined.zip(ended).is_some_and(|((_, joined), (_, ended))| joined > ended) {
            found.push(format!("{id} joined a run that had ended"));
        }
    }
    for text in found {
        evidence.report(1, text);
    }
}
