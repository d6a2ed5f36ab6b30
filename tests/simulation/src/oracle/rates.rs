//! Promise 10 for the runs per minute of a space: they have a limit, even if the clocks of
//! processes differ, and nothing is refused while there is room.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use smartspace_domain::Time;
use tokio::time::Instant;

use crate::oracle::Evidence;

const MINUTE: Duration = Duration::from_mins(1);
/// How long after its own time a message may be stored: its write is held for ten seconds, and then
/// loses races for five.
const STORED_LATER: Duration = Duration::from_secs(15);

pub(super) fn runs_per_minute_have_a_limit(evidence: &mut Evidence<'_>) {
    let parameters = &evidence.env.parameters;
    // If the wall clock jumps, a minute may come twice.
    let Some(limit) = parameters.space_runs.filter(|_| parameters.fault_rates.clock == 0) else {
        return;
    };
    let mut found = too_many(evidence, limit as usize);
    found.extend(refused_without_reason(evidence));
    for text in found {
        evidence.report(10, text);
    }
}

/// Spaces in which messages triggered too many runs in less than a minute.
fn too_many(evidence: &Evidence<'_>, limit: usize) -> Vec<String> {
    let mut created: BTreeMap<&str, Vec<Instant>> = BTreeMap::new();
    let calm = evidence.env.calm_since();
    for (id, run) in of_messages(evidence) {
        let at = evidence.env.storage.run_writes(id).created.map(|(at, _)| at);
        // A message that joins a run starts none.
        if let (Some(space), Some(at)) = (run["spaceId"].as_str(), at)
            && run["endReason"] != "coalesced"
            && calm.is_none_or(|calm| at < calm)
        {
            created.entry(space).or_default().push(at);
        }
    }
    // In this time, at most two minutes are the current one of any process.
    let window = MINUTE.saturating_sub(2 * evidence.env.parameters.clock_spread);
    let mut found = Vec::new();
    for (space, mut times) in created {
        times.sort();
        let most = times
            .iter()
            .enumerate()
            .map(|(first, at)| times[first..].iter().filter(|other| **other < *at + window).count())
            .max();
        if let Some(most) = most.filter(|most| *most > 2 * limit) {
            found.push(format!(
                "messages in {space} triggered {most} runs in {window:?}, with a limit of {limit}"
            ));
        }
    }
    found
}

/// Messages that did not trigger an agent because of the rate, though none triggered a run before.
fn refused_without_reason(evidence: &Evidence<'_>) -> Vec<String> {
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Time>().ok());
    let spread = 2 * evidence.env.parameters.clock_spread;
    let mut found = Vec::new();
    for (space, message) in evidence.stored.all_messages() {
        let dispatch = message["dispatch"].as_array();
        let is_refused = dispatch.into_iter().flatten().any(|woken| woken["reason"] == "rate");
        let Some(at) = time(&message["createdAt"]).filter(|_| is_refused) else { continue };
        let is_recent = |then: &Value| {
            time(then).is_some_and(|then| {
                then.since(at) <= spread + STORED_LATER && at.since(then) <= MINUTE + spread
            })
        };
        let counts = |run: &Value| {
            // A message whose router was asked may use up the runs itself, when everyone is woken.
            let is_own = run["messageId"] == message["id"] && !message["router"].is_null();
            is_own || run["spaceId"] == space.as_str() && is_recent(&run["createdAt"])
        };
        // A message takes a run before its router is asked, which may choose nobody.
        let has_asked = |other: &Value| {
            other["id"] != message["id"]
                && !other["router"].is_null()
                && is_recent(&other["createdAt"])
        };
        let mut others = evidence.stored.all_messages().filter(|(its, _)| *its == space);
        if !of_messages(evidence).any(|(_, run)| counts(run))
            && !others.any(|(_, other)| has_asked(other))
        {
            found.push(format!(
                "{} was refused by the rate, but no run used it up: {}",
                message["id"], message["dispatch"]
            ));
        }
    }
    found
}

/// The runs that messages triggered.
fn of_messages<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let runs = evidence.stored.runs.iter().map(|(id, run)| (id.as_str(), run));
    runs.filter(|(_, run)| !run["messageId"].is_null() && run["source"] != "delegated")
}
