//! Promise 9 for runs that a plan or a service triggered: they show only in the spaces that they
//! entered or in which they posted a card, and only by the type of their trigger.

use serde_json::json;

use crate::oracle::Evidence;

pub(super) fn runs_without_a_space_show_only_where_they_were(evidence: &mut Evidence<'_>) {
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
            let has_entered =
                calls.into_iter().any(|(_, call)| call["activeSpace"] == space.as_str());
            let mut messages = evidence.stored.messages.get(space).into_iter().flatten();
            let has_posted = messages.any(|(_, message)| message["runId"] == run.as_str());
            if !has_entered && !has_posted {
                found.push(format!(
                    "person {} saw {run} in {space}, but it was never there",
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
