//! Promises 2 and 4: a summary covers the messages that it was made from, and only the worker with
//! the claim stores one.

use smartspace_domain::Time;

use crate::{env::Env, oracle::Evidence, storage::ItemState};

pub(super) fn summaries_cover_what_they_say(evidence: &mut Evidence<'_>) {
    let shown = evidence.env.storage.shown();
    for (space, states) in &shown.summaries {
        for text in wrong_claims(evidence.env, states) {
            evidence.report(4, format!("the summary of {space} {text}"));
        }
        for text in wrong_contents(states) {
            evidence.report(2, format!("the summary of {space} {text}"));
        }
    }
}

/// Summaries of workers without the claim, and claims while another worker had one.
fn wrong_claims(env: &Env, states: &[ItemState]) -> Vec<String> {
    let parameters = &env.parameters;
    let clocks_are_exact = parameters.fault_rates.clock == 0 && parameters.clock_spread.is_zero();
    let mut found = Vec::new();
    for (before, after) in states.iter().zip(&states[1..]) {
        let claimed_until = &before.item["claimedUntil"];
        // A deletion takes a summary away, and an edit the claim on it, whoever has the claim.
        let is_revoked = after.item["claimedUntil"].is_null()
            && ["to", "text"].iter().all(|name| before.item[*name] == after.item[*name]);
        if is_revoked || after.item.is_null() || before.item["by"] == after.item["by"] {
            continue;
        }
        if after.item["claimedUntil"].is_null() {
            found.push(format!(
                "up to {} was stored by {}, but {} had the claim",
                after.item["to"], after.item["by"], before.item["by"]
            ));
        }
        let passed = after.at.elapsed().as_millis() as i64;
        let wall = Time::from_millis(env.wall().as_millis() - passed);
        let until = claimed_until.as_str().and_then(|until| until.parse::<Time>().ok());
        if clocks_are_exact && until.is_some_and(|until| until >= wall) {
            found
                .push(format!("was claimed at {wall}, but another claim ended at {claimed_until}"));
        }
    }
    found
}

/// Summaries that name other messages than those that their models read, or fewer than before.
fn wrong_contents(states: &[ItemState]) -> Vec<String> {
    let mut found = Vec::new();
    let mut last = 0;
    for item in states.iter().map(|state| &state.item) {
        if item.is_null() {
            last = 0;
        }
        if item["to"].as_u64().is_none_or(|to| to == 0) {
            continue;
        }
        // Behind the numbers come the markers of the messages.
        let text = item["text"].as_str().unwrap_or_default();
        let text = text.split(' ').next().unwrap_or_default();
        if text != format!("{}-{}", item["from"], item["to"]) {
            found.push(format!(
                "covers the messages {} to {}, but was made from {text}",
                item["from"], item["to"]
            ));
        }
        let to = item["to"].as_u64().unwrap_or(0);
        if to < last {
            found.push(format!("covered the messages up to {last}, and then up to {to}"));
        }
        last = to.max(last);
    }
    found
}
