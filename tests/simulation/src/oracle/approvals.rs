//! Promise 7: a call that people decide is made at most once, and only with the approvals that its
//! rule wants. A decision that was confirmed counts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    external_tools::RULED,
    ledger::{ArrivedRequest, CallDecision},
    oracle::{Evidence, Stored, stored::parsed},
};

/// The place of a call: its run, its step and its position there.
type CallPosition = (String, u64, u64);

pub(super) fn calls_are_made_as_people_decided(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut arrived: BTreeMap<&str, Vec<&ArrivedRequest>> = BTreeMap::new();
    let is_ruled = |request: &&ArrivedRequest| RULED.contains(&&*request.tool);
    for request in evidence.ledger.arrived.iter().filter(is_ruled) {
        arrived.entry(&request.key).or_default().push(request);
    }
    let mut given: BTreeMap<&str, Vec<&CallDecision>> = BTreeMap::new();
    for decision in &evidence.ledger.decisions {
        given.entry(&decision.call).or_default().push(decision);
    }
    let mut found = Vec::new();
    for (place, call) in &stored.calls {
        let id = call["callId"].as_str().unwrap_or_default();
        let arrived = arrived.remove(id).unwrap_or_default();
        let given = given.remove(id).unwrap_or_default();
        let wrong = if call["approval"].is_null() {
            without_approval(call, &arrived)
        } else {
            Decided { stored, place, call, arrived, given }.wrong()
        };
        found.extend(wrong.into_iter().map(|what| format!("the call {id} of {} {what}", place.0)));
    }
    found.extend(arrived.keys().map(|key| format!("the call {key} arrived, but is not stored")));
    let taken = given.values().flatten().filter(|decision| decision.was_taken());
    found.extend(taken.map(|decision| {
        format!("a decision on {} was confirmed, but there is no such call", decision.call)
    }));
    found.extend(wrong_cards(stored));
    for text in found {
        evidence.report(7, text);
    }
}

/// Calls of these tools never arrive unless people have decided them.
fn without_approval(call: &Value, arrived: &[&ArrivedRequest]) -> Vec<String> {
    if arrived.is_empty() {
        return Vec::new();
    }
    vec![format!("arrived as {arrived:?}, but nobody decided it: {call}")]
}

/// A call that was shown to people.
struct Decided<'a> {
    stored: &'a Stored,
    place: &'a CallPosition,
    call: &'a Value,
    arrived: Vec<&'a ArrivedRequest>,
    given: Vec<&'a CallDecision>,
}

impl Decided<'_> {
    fn wrong(&self) -> Vec<String> {
        let mut found = self.wrong_requests();
        if self.call["name"] == RULED[1] {
            found.push("was shown to people, but a rule denies it".into());
        }
        if self.decisions().skip(1).any(|(_, action)| action == "edit") {
            found.push(format!("keeps decisions before an edit: {}", self.approval()));
        }
        found.extend(self.invented_decisions());
        found.extend(self.lost_decisions());
        found.extend(self.wrong_state());
        found.extend(self.made_too_early());
        found
    }

    fn approval(&self) -> &Value {
        &self.call["approval"]
    }

    fn decisions(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.approval()["decisions"].as_array().into_iter().flatten().map(|made| {
            (made["by"].as_str().unwrap_or_default(), made["action"].as_str().unwrap_or_default())
        })
    }

    /// The text of the input with which the call is to be made.
    fn text(&self) -> String {
        let edited = parsed(&self.approval()["input"]);
        let begun = self.stored.begun(self.place).map(|begun| parsed(&begun["input"]));
        let input = if edited.is_null() { begun.unwrap_or_default() } else { edited };
        input["text"].as_str().unwrap_or_default().to_owned()
    }

    fn wrong_requests(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.arrived.is_empty() {
            return found;
        }
        if self.arrived.len() > 1 {
            found.push(format!("arrived {} times", self.arrived.len()));
        }
        if self.approval()["state"] != "approved" {
            found.push(format!("arrived, but its approval is {}", self.approval()));
        }
        let text = self.text();
        if let Some(other) = self.arrived.iter().find(|it| it.what != text) {
            found.push(format!("was approved with {text:?}, but arrived as {:?}", other.what));
        }
        found
    }

    /// Whether a person may have decided so.
    fn was_given(&self, by: &str, action: &str) -> bool {
        let input = parsed(&self.approval()["input"]);
        self.given.iter().any(|given| {
            given.person.to_string() == by
                && given.action == action
                && (action != "edit" || given.input == input)
                && given.may_be_taken()
        })
    }

    /// Decisions that nobody gave, and people whose approvals count twice. Who has approved a call
    /// may still answer or deny it.
    fn invented_decisions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut people = BTreeSet::new();
        for (by, action) in self.decisions() {
            if !self.was_given(by, action) {
                found.push(format!("has the decision {action} of {by}, which nobody gave"));
            }
            if matches!(action, "approve" | "edit") && !people.insert(by) {
                found.push(format!("counts {by} twice"));
            }
        }
        found
    }

    /// Decisions that were confirmed and do not count. An edit ends those before it.
    fn lost_decisions(&self) -> Vec<String> {
        let is_edited = self.decisions().next().is_some_and(|(_, action)| action == "edit");
        let approves = |action: &str| matches!(action, "approve" | "edit");
        let counts = |given: &CallDecision| {
            let person = given.person.to_string();
            self.decisions().any(|(by, action)| {
                by == person
                    && (action == given.action || approves(action) && given.action == "approve")
            })
        };
        let lost = self.given.iter().filter(|given| given.was_taken() && !counts(given));
        lost.filter(|given| !(is_edited && approves(given.action)))
            .map(|given| format!("lost the decision {} of {}", given.action, given.person))
            .collect()
    }

    fn wrong_state(&self) -> Option<String> {
        let call = self.call;
        let needed = self.approval()["rule"]["quorum"].as_u64().unwrap_or_default();
        let approvals =
            self.decisions().filter(|(_, action)| matches!(*action, "approve" | "edit")).count();
        let has_quorum = approvals as u64 >= needed;
        let output = parsed(&call["output"]);
        let is_right = match self.approval()["state"].as_str().unwrap_or_default() {
            "approved" => has_quorum && approvals == self.decisions().count(),
            "declined" => {
                let last = self.decisions().last().map(|(_, action)| action);
                let fits = match last {
                    Some("respond") => !output["response"].is_null(),
                    Some("decline" | "end") => output["declined"] == true,
                    _ => false,
                };
                fits && call["status"] == "completed"
            }
            "expired" => call["status"] == "expired" && !has_quorum,
            "open" => !has_quorum && matches!(call["status"].as_str(), Some("canceled" | "failed")),
            _ => false,
        };
        let run = &self.stored.runs[&self.place.0];
        (!is_right).then(|| {
            format!(
                "is {} with {output} and the approval {}, and its run is {}",
                call["status"],
                self.approval(),
                run["status"]
            )
        })
    }

    /// Calls behind one that nobody has decided wait, too, except those that also ask.
    fn made_too_early(&self) -> Vec<String> {
        if self.approval()["state"] != "open" {
            return Vec::new();
        }
        let (run, step, index) = self.place;
        let behind = self
            .stored
            .calls
            .range((run.clone(), *step, index + 1)..=(run.clone(), *step, u64::MAX));
        behind
            .filter(|(_, call)| call["approval"].is_null())
            .map(|(_, call)| format!("was not decided, but the call behind it was made: {call}"))
            .collect()
    }
}

/// Cards that differ from their calls.
fn wrong_cards(stored: &Stored) -> Vec<String> {
    let decided: BTreeMap<_, _> = stored
        .calls
        .values()
        .filter(|call| !call["approval"].is_null())
        .filter_map(|call| Some((call["callId"].as_str()?, call)))
        .collect();
    let mut found = Vec::new();
    for (_, message) in stored.all_messages().filter(|(space, _)| !stored.is_deleted(space)) {
        let card = &message["card"];
        let Some((id, call)) = card["callId"].as_str().and_then(|id| Some((id, decided.get(id)?)))
        else {
            continue;
        };
        let status = if call["status"] == "unknown" {
            "failed"
        } else {
            call["status"].as_str().unwrap_or_default()
        };
        let shown = &card["asks"]["approval"];
        if card["status"] != status
            || shown["state"] != call["approval"]["state"]
            || shown["decisions"] != call["approval"]["decisions"]
            || !message["g2pk"].is_null()
        {
            found.push(format!("the card of {id} is {card}, but its call is {call}"));
        }
    }
    found
}
