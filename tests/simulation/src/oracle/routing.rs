//! Promise 1 for the policy `router`: a message that mentions nobody wakes whom the gate chose, and
//! of the others whom one answer of the router chose. If the router did not answer, the gate
//! decides alone, and without a gate everyone is woken.

use serde_json::Value;
use smartspace_domain::{limits::TIMELINE_CHARS, messages::excerpt};

use crate::{oracle::Evidence, parameters::Parameters};

/// Whether the words of a decision are those of the gate, or of a question that nobody else would
/// answer.
fn is_of_gate(words: &str) -> bool {
    ["gate ", "nobody reached ", "nobody was chosen"].iter().any(|begin| words.starts_with(begin))
}

pub(super) fn the_router_decides_once(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let Parameters { policy, gate, .. } = &evidence.env.parameters;
    for (_, message) in evidence.stored.all_messages() {
        let entries = || message["dispatch"].as_array().into_iter().flatten();
        let words = |entry: &Value| entry["reasonText"].as_str().unwrap_or_default().to_owned();
        let of_router = |entry: &&Value| {
            let is_chosen = entry["source"] == "router" || entry["reason"] == "router";
            // An agent that has joined since the scores has no words.
            let has_joined = *gate == "on" && words(entry).is_empty();
            is_chosen && !has_joined && !is_of_gate(&words(entry))
        };
        let asked = &message["router"];
        let id = &message["id"];
        let broadcast = entries().any(|entry| entry["source"] == "broadcast");
        let may_wake_everyone = !asked["error"].is_null() && *gate != "on";
        if *policy == "router" && broadcast && !may_wake_everyone {
            found.push(format!("{id} woke everyone, but its router did not fail: {asked}"));
        }
        if !asked["error"].is_null() && entries().any(|entry| of_router(&entry)) {
            found.push(format!("the router of {id} failed and decided: {}", message["dispatch"]));
        }
        // The router reads as much of a long text as a timeline shows.
        let (text, _) = excerpt(message["text"].as_str().unwrap_or_default(), TIMELINE_CHARS);
        let answers = evidence.ledger.routed.get(text).copied().unwrap_or(0);
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
