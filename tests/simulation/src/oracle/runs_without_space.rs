//! Promise 9 for runs that a plan or a service triggered: they show only in the spaces that they
//! entered, and only by the type of their trigger.

use serde_json::json;

use crate::oracle::Evidence;

pub(super) fn runs_without_a_space_show_only_where_they_entered(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (person, seen) in &evidence.seen {
        for (run, space, trigger) in &seen.runs {
            let Some(stored) =
                evidence.stored.runs.get(run).filter(|stored| stored["messageId"].is_null())
            else {
                continue;
            };
            let calls = evidence
                .stored
                .calls
                .range((run.clone(), 0, 0)..=(run.clone(), u64::MAX, u64::MAX));
            if !calls.into_iter().any(|(_, call)| call["activeSpace"] == space.as_str()) {
                found.push(format!(
                    "person {} saw {run} in {space}, but it never entered that space",
                    person.index
                ));
            }
            let shown =
                json!({"type": if stored["planId"].is_null() { "service" } else { "plan" }})
                    .to_string();
            if *trigger != shown {
                found.push(format!(
                    "person {} saw the trigger of {run} in {space}: {trigger}",
                    person.index
                ));
            }
        }
    }
    for text in found {
        evidence.report(9, text);
    }
}
