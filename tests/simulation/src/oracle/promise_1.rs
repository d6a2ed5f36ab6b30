//! What was answered with 2xx is kept and never lost; whom a message wakes is decided once, and each has exactly one run for it.

use std::collections::BTreeMap;

use super::Evidence;

pub(super) fn nothing_accepted_is_lost_and_each_wakes_once(evidence: &mut Evidence<'_>) {
    let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, message) in evidence.kept.all_messages().filter(|(_, message)| message["runId"].is_null()) {
        *texts.entry(message["text"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let mut found = Vec::new();
    for said in &evidence.ledger.said {
        let times = texts.remove(said.text.as_str()).unwrap_or(0);
        if times > 1 {
            found.push(format!("{:.40} is kept {times} times", said.text));
        }
        let Some((id, seq)) = &said.accepted else { continue };
        let kept = evidence.kept.messages.get(&said.space.to_string()).and_then(|messages| messages.get(seq));
        if !kept.is_some_and(|kept| kept["id"] == id.as_str() && kept["text"] == said.text.as_str()) {
            found.push(format!("{:.40} was accepted as {id}, number {seq}, and is not there", said.text));
        }
    }
    found.extend(texts.keys().map(|text| format!("nobody said {text:.40}")));

    // Each decision has its run, and each run its decision.
    let mut decided = BTreeMap::new();
    for (space, message) in evidence.kept.all_messages() {
        let (id, seq) = (&message["id"], &message["seq"]);
        let Some(dispatch) = message["dispatch"].as_array() else {
            found.push(format!("nobody decided whom {id} wakes"));
            continue;
        };
        for woken in dispatch.iter().filter(|woken| !woken["runId"].is_null()) {
            let run = woken["runId"].as_str().unwrap_or_default();
            match evidence.kept.runs.get(run) {
                Some(kept)
                    if kept["agentId"] == woken["agentId"]
                        && kept["messageId"] == *id
                        && kept["seq"] == *seq
                        && kept["spaceId"] == space.as_str() => {}
                Some(_) => found.push(format!("{run} is not for {id}, which names it")),
                None => found.push(format!("{id} woke {}, and its run {run} is not there", woken["agentId"])),
            }
            if decided.insert(run.to_owned(), id.clone()).is_some() {
                found.push(format!("{run} is named twice"));
            }
        }
    }
    found.extend(evidence.kept.runs.keys().filter(|run| !decided.contains_key(*run)).map(|run| format!("no message woke {run}")));
    for text in found {
        evidence.complain(1, text);
    }
}
