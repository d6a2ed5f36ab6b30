//! What services send is kept before it is answered, and wakes its agent once, however often it comes: part of promise 1; and nobody beyond the depth
//! (promise 6).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Evidence, kept::parsed};
use crate::ledger::Sent;

pub(super) fn what_services_send_wakes_once(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let mut kept: BTreeMap<String, Vec<(&String, &Value)>> = BTreeMap::new();
    let comes_first = |delivery: &Value| delivery["status"] == "accepted" || delivery["status"] == "refused";
    for (id, delivery) in evidence.kept.deliveries.iter().filter(|(_, delivery)| comes_first(delivery)) {
        kept.entry(parsed(&delivery["payload"])["what"].as_str().unwrap_or_default().to_owned()).or_default().push((id, delivery));
        found.extend(run_of(evidence, id, delivery).map(|what| format!("{id} {what}")));
    }
    for sent in &evidence.ledger.sent {
        let mut kept = kept.remove(&sent.text).unwrap_or_default();
        found.extend(differ(&sent.told).map(|what| format!("{} of {} {what}", sent.text, sent.service)));
        // What was sent once more is another delivery.
        let mut unknown = 0;
        for replayed in evidence.ledger.replayed.iter().filter(|replayed| replayed.text == sent.text) {
            found.extend(differ(&replayed.told).map(|what| format!("{} once more {what}", sent.text)));
            match accepted(&replayed.told).next() {
                Some(told) => match kept.iter().position(|(id, _)| told["deliveryId"] == id.as_str()) {
                    Some(place) => found.extend(is_as_told(kept.remove(place), told)),
                    None => found.push(format!("{} was sent once more as {told}, which is not there", sent.text)),
                },
                None => unknown += 1,
            }
        }
        match accepted(&sent.told).next() {
            Some(told) => match kept.iter().position(|(id, _)| told["deliveryId"] == id.as_str()) {
                Some(place) => found.extend(is_as_told(kept.remove(place), told)),
                None => found.push(format!("{} of {} was accepted as {told}, which is not there", sent.text, sent.service)),
            },
            None => unknown += 1,
        }
        if kept.len() > unknown {
            let ids: Vec<_> = kept.iter().map(|(id, _)| id).collect();
            found.push(format!("{} of {} is also kept as {ids:?}", sent.text, sent.service));
        }
        found.extend(wrong_reason(evidence, sent));
    }
    found.extend(kept.keys().map(|text| format!("nobody sent {text}, and it is kept")));
    let known = |run: &Value| {
        let delivery = run["deliveryId"].as_str().and_then(|id| evidence.kept.deliveries.get(id));
        delivery.is_some_and(|delivery| comes_first(delivery) && delivery["runId"] == run["id"])
    };
    let by_service = evidence.kept.runs.iter().filter(|(_, run)| !run["deliveryId"].is_null());
    found.extend(
        by_service
            .filter(|(_, run)| !known(run))
            .map(|(id, run)| format!("{id} was woken by {}, which does not name it", run["deliveryId"])),
    );
    let deep = wrong_depths(evidence);
    for text in found {
        evidence.complain(1, text);
    }
    for text in deep {
        evidence.complain(6, text);
    }
}

/// The answers that say that something was kept.
fn accepted(told: &[(u16, Value)]) -> impl Iterator<Item = &Value> {
    told.iter().filter(|(status, _)| *status == 202).map(|(_, told)| told)
}

/// Every answer is the first one.
fn differ(told: &[(u16, Value)]) -> Option<String> {
    let first = accepted(told).next()?;
    let other = accepted(told).find(|other| *other != first)?;
    Some(format!("was answered with {first}, and then with {other}"))
}

fn is_as_told((id, delivery): (&String, &Value), told: &Value) -> Option<String> {
    let kept = json!({"deliveryId": id, "runId": delivery["runId"], "reason": delivery["reason"]});
    (["runId", "reason"].into_iter().any(|name| kept[name] != told[name])).then(|| format!("{told} was told, and {kept} is kept"))
}

/// What is wrong with the run of a delivery.
fn run_of(evidence: &Evidence<'_>, id: &str, delivery: &Value) -> Option<String> {
    let run = delivery["runId"].as_str();
    match run.map(|run| (run, evidence.kept.runs.get(run))) {
        None if delivery["status"] == "accepted" => Some("was accepted, and names no run".into()),
        None => None,
        Some((run, None)) => Some(format!("woke {run}, which is not there")),
        Some((run, Some(kept))) if kept["deliveryId"] != id || kept["agentId"] != delivery["agentId"] => {
            Some(format!("woke {run}, which is {kept}"))
        }
        Some(_) => None,
    }
}

/// Why something woke nobody must be so; there is always room in a minute.
fn wrong_reason(evidence: &Evidence<'_>, sent: &Sent) -> Option<String> {
    let told = accepted(&sent.told).next()?;
    let is_right = match told["reason"].as_str() {
        None => !told["runId"].is_null(),
        Some("paused") => told["runId"].is_null() && evidence.ledger.paused.contains(&sent.agent),
        Some("chain_depth") => told["runId"].is_null() && sent.depth >= u64::from(evidence.world.plan.agent_depth),
        Some(_) => false,
    };
    (!is_right).then(|| format!("{} of {}, {} deep, was answered with {told}", sent.text, sent.service, sent.depth))
}

/// Runs that are not as deep as what woke them.
fn wrong_depths(evidence: &Evidence<'_>) -> Vec<String> {
    let kept = &evidence.kept;
    let wrong = |(id, run): (&String, &Value)| {
        let delivery = kept.deliveries.get(run["deliveryId"].as_str()?)?;
        let what = parsed(&delivery["payload"])["what"].take();
        let sent = evidence.ledger.sent.iter().find(|sent| what == sent.text.as_str())?;
        // By hand it begins anew.
        (run["chainDepth"] != sent.depth && run["chainDepth"] != 0)
            .then(|| format!("{id} is {} deep, and what woke it {}", run["chainDepth"], sent.depth))
    };
    kept.runs.iter().filter_map(wrong).collect()
}
