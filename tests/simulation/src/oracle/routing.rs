//! Promise 1 for the policy `router`: a message that mentions nobody wakes whom one answer of the
//! router chose, or everyone if the router did not answer.

use serde_json::Value;
use smartspace_domain::{limits::TIMELINE_CHARS, messages::excerpt};

use crate::oracle::Evidence;

pub(super) fn the_router_decides_once(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (_, message) in evidence.stored.all_messages() {
        let entries = || message["dispatch"].as_array().into_iter().flatten();
        // A question that would wake nobody wakes the best agent: `questions` checks that.
        let is_best = |entry: &Value| {
            entry["reasonText"].as_str().is_some_and(|text| text.contains("; best is "))
        };
        let of_router = |entry: &&Value| {
            (entry["source"] == "router" || entry["reason"] == "router") && !is_best(entry)
        };
        let asked = &message["router"];
        let id = &message["id"];
        let broadcast = entries().any(|entry| entry["source"] == "broadcast");
        if evidence.env.parameters.policy == "router" && broadcast && asked["error"].is_null() {
            found.push(format!("{id} woke everyone, but its router did not fail: {asked}"));
        }
        if !asked["error"].is_null() && entries().any(|entry| of_router(&entry)) {
            found.push(format!("the router of {id} failed and decided: {}", message["dispatch"]));
        }
        // The router reads as much of a long text as a timeline shows.
        let (text, _) = excerpt(message["text"].as_str().unwrap_or_default(), TIMELINE_CHARS);
        let answers = evidence.ledger.routed.get(text).copied().unwrap_or(0);
        let words = |entry: &Value| entry["reasonText"].as_str().unwrap_or_default().to_owned();
        let is_answer = |answer: u64| {
            entries().filter(of_router).all(|entry| {
                let yes = entry["source"] == "router";
                let expected = format!("answer {answer}: {}", if yes { "yes" } else { "no" });
                // Who joined meanwhile was not asked about.
                words(entry) == expected || (!yes && words(entry).starts_with("the router chose"))
            })
        };
        if entries().any(|entry| of_router(&entry)) && !(1..=answers).any(is_answer) {
            found.push(format!("no answer of the router decided {id}: {}", message["dispatch"]));
        }
    }
    for text in found {
        evidence.report(1, text);
    }
}
