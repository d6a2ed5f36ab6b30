//! Runs that no space woke show in the spaces that they entered, by their type alone: part of promise 9.

use serde_json::json;

use super::Evidence;

pub(super) fn runs_that_no_space_woke_show_only_where_they_went(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (person, seen) in &evidence.seen {
        for (run, space, trigger) in &seen.runs {
            let Some(kept) = evidence.kept.runs.get(run).filter(|kept| kept["messageId"].is_null()) else { continue };
            let calls = evidence.kept.calls.range((run.clone(), 0, 0)..=(run.clone(), u64::MAX, u64::MAX));
            if !calls.into_iter().any(|(_, call)| call["activeSpace"] == space.as_str()) {
                found.push(format!("person {} saw {run} in {space}, which it never entered", person.index));
            }
            let shown = json!({"type": if kept["planId"].is_null() { "service" } else { "plan" }}).to_string();
            if *trigger != shown {
                found.push(format!("person {} saw what woke {run} in {space}: {trigger}", person.index));
            }
        }
    }
    for text in found {
        evidence.complain(9, text);
    }
}
