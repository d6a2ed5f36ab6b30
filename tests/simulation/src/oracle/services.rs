//! Promises 1 and 6 for services: a delivery is stored before it is answered, it triggers its agent
//! once even if it is repeated, and it triggers no agent at its depth limit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::ledger::{ReplayedDelivery, SentDelivery};
use crate::oracle::{Evidence, stored::parsed};
use crate::parameters::BudgetOf;

pub(super) fn deliveries_trigger_once(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let mut by_text: BTreeMap<String, Vec<Delivery<'_>>> = BTreeMap::new();
    for (id, stored) in evidence.stored.deliveries.iter().filter(|(_, stored)| is_first(stored)) {
        let text = parsed(&stored["payload"])["what"].as_str().unwrap_or_default().to_owned();
        by_text.entry(text).or_default().push(Delivery { id, stored });
        found.extend(wrong_run(evidence, id, stored).map(|what| format!("{id} {what}")));
    }
    for sent in &evidence.ledger.sent {
        let stored = by_text.remove(&sent.text).unwrap_or_default();
        found.extend(wrong_deliveries(evidence, sent, stored));
        found.extend(wrong_reason(evidence, sent));
    }
    found.extend(by_text.keys().map(|text| format!("{text} is stored, but nobody sent it")));
    let is_named = |run: &Value| {
        let delivery = run["deliveryId"].as_str().and_then(|id| evidence.stored.deliveries.get(id));
        delivery.is_some_and(|delivery| is_first(delivery) && delivery["runId"] == run["id"])
    };
    let is_of_service = |run: &Value| !run["deliveryId"].is_null() && run["retryOf"].is_null();
    let by_service = evidence.stored.runs.iter().filter(|(_, run)| is_of_service(run));
    found.extend(by_service.filter(|(_, run)| !is_named(run)).map(|(id, run)| {
        format!("{id} was triggered by {}, which does not name it", run["deliveryId"])
    }));
    let deep = wrong_depths(evidence);
    for text in found {
        evidence.report(1, text);
    }
    for text in deep {
        evidence.report(6, text);
    }
}

struct Delivery<'a> {
    id: &'a str,
    stored: &'a Value,
}

/// Whether a delivery is not a repetition of another one.
fn is_first(delivery: &Value) -> bool {
    delivery["status"] == "accepted" || delivery["status"] == "refused"
}

/// Compares what a service sent, and its replays, with the stored deliveries of the same text. A
/// replay is a delivery of its own.
fn wrong_deliveries(
    evidence: &Evidence<'_>,
    sent: &SentDelivery,
    mut stored: Vec<Delivery<'_>>,
) -> Vec<String> {
    let mut found = Vec::new();
    let name = format!("{} of {}", sent.text, sent.service);
    let replays = evidence.ledger.replayed.iter().filter(|replayed| replayed.text == sent.text);
    let answers = replays.map(|ReplayedDelivery { answers, .. }| answers).chain([&sent.answers]);
    let mut unanswered = 0;
    for answers in answers {
        found.extend(differ(answers).map(|what| format!("{name} {what}")));
        let Some(answer) = accepted(answers).next() else {
            unanswered += 1;
            continue;
        };
        match stored.iter().position(|delivery| answer["deliveryId"] == delivery.id) {
            Some(place) => found.extend(differs_from_answer(&stored.remove(place), answer)),
            None => found.push(format!("{name} was accepted as {answer}, but is not stored")),
        }
    }
    if stored.len() > unanswered {
        let ids: Vec<_> = stored.iter().map(|delivery| delivery.id).collect();
        found.push(format!("{name} is also stored as {ids:?}"));
    }
    found
}

/// The answers that accept a delivery.
fn accepted(answers: &[(u16, Value)]) -> impl Iterator<Item = &Value> {
    answers.iter().filter(|(status, _)| *status == 202).map(|(_, answer)| answer)
}

/// Whether two answers to the same delivery differ.
fn differ(answers: &[(u16, Value)]) -> Option<String> {
    let first = accepted(answers).next()?;
    let other = accepted(answers).find(|other| *other != first)?;
    Some(format!("was answered with {first}, and then with {other}"))
}

fn differs_from_answer(delivery: &Delivery<'_>, answer: &Value) -> Option<String> {
    let Delivery { id, stored } = delivery;
    let stored = json!({"deliveryId": id, "runId": stored["runId"], "reason": stored["reason"]});
    (["runId", "reason"].into_iter().any(|name| stored[name] != answer[name]))
        .then(|| format!("{answer} was answered, but {stored} is stored"))
}

/// What is wrong with the run of a delivery.
fn wrong_run(evidence: &Evidence<'_>, id: &str, delivery: &Value) -> Option<String> {
    let run = delivery["runId"].as_str();
    match run.map(|run| (run, evidence.stored.runs.get(run))) {
        None if delivery["status"] == "accepted" => Some("was accepted, but names no run".into()),
        None => None,
        Some((run, None)) => Some(format!("triggered {run}, which is not stored")),
        Some((run, Some(stored)))
            if stored["deliveryId"] != id || stored["agentId"] != delivery["agentId"] =>
        {
            Some(format!("triggered {run}, which is {stored}"))
        }
        Some(_) => None,
    }
}

/// Whether the reason for not triggering a run is wrong. The rate limit is never reached.
fn wrong_reason(evidence: &Evidence<'_>, sent: &SentDelivery) -> Option<String> {
    let answer = accepted(&sent.answers).next()?;
    let is_right = match answer["reason"].as_str() {
        None => !answer["runId"].is_null(),
        // A space does not pay for a service.
        Some("budget") => {
            answer["runId"].is_null()
                && evidence
                    .env
                    .parameters
                    .budget
                    .is_some_and(|budget| budget.scope != BudgetOf::Spaces)
        }
        Some("paused") => answer["runId"].is_null() && evidence.ledger.paused.contains(&sent.agent),
        Some("chain_depth") => {
            answer["runId"].is_null()
                && sent.depth >= u64::from(evidence.env.parameters.agent_depth)
        }
        Some(_) => false,
    };
    (!is_right).then(|| {
        let SentDelivery { text, service, depth, .. } = sent;
        format!("{text} of {service}, {depth} deep, was answered with {answer}")
    })
}

/// Runs whose depth is not the depth of their delivery.
fn wrong_depths(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let wrong = |(id, run): (&String, &Value)| {
        let delivery = stored.deliveries.get(run["deliveryId"].as_str()?)?;
        let what = parsed(&delivery["payload"])["what"].take();
        let sent = evidence.ledger.sent.iter().find(|sent| what == sent.text.as_str())?;
        // A replay begins a new chain.
        (run["chainDepth"] != sent.depth && run["chainDepth"] != 0)
            .then(|| format!("{id} is {} deep, its delivery {}", run["chainDepth"], sent.depth))
    };
    stored.runs.iter().filter_map(wrong).collect()
}
