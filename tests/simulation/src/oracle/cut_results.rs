//! The results that a run cut because most of its model's window was used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    ledger::ModelRequest,
    oracle::stored::{Stored, parsed},
};

/// Results of so many bytes or less stay whole.
const SHORT: usize = 400;

/// The stored outputs of calls, by their ids.
pub(super) type Outputs<'a> = BTreeMap<&'a str, &'a Value>;

/// The stored outputs of all calls.
pub(super) fn outputs(stored: &Stored) -> Outputs<'_> {
    let calls = stored.calls.values().chain(&stored.calls_of_forks);
    calls.filter_map(|call| Some((call["callId"].as_str()?, &call["output"]))).collect()
}

/// Whether a model was sent the stored output of a call in its cut form.
pub(super) fn is_cut(sent: &Value, stored: &Value) -> bool {
    let bytes = stored.to_string().len();
    let is_form_of = |sent: &str| {
        ["call again", "cut"].iter().any(|hint| sent == format!("… ({bytes} bytes; {hint})"))
    };
    bytes > SHORT && sent.as_str().is_some_and(|sent| is_form_of(&sent.replace(',', "")))
}

/// An earlier answer, its results or their pictures as if nothing were cut.
pub(super) fn uncut(message: &str, outputs: &Outputs<'_>) -> String {
    if message.contains("\"role\":\"files\"") {
        return message.replace(",\"isCut\":true", "");
    }
    if !message.contains(" bytes; ") {
        return message.to_owned();
    }
    let mut parsed_message: Value = serde_json::from_str(message).unwrap_or_default();
    for result in parsed_message["results"].as_array_mut().into_iter().flatten() {
        let stored =
            result["callId"].as_str().and_then(|call| outputs.get(call)).map(|it| parsed(it));
        if let Some(stored) = stored.filter(|stored| is_cut(&result["output"], stored)) {
            result["output"] = stored;
        }
    }
    parsed_message.to_string()
}

/// Requests that show a result whole although every request for an earlier step had it cut: the
/// worker did not resume from what was sent.
pub(super) fn forgotten_cuts(requests: &[ModelRequest], outputs: &Outputs<'_>) -> Vec<String> {
    // What all requests for a step had cut, by run and step.
    let mut cut: BTreeMap<_, BTreeMap<usize, BTreeSet<String>>> = BTreeMap::new();
    for ask in requests {
        let shown = cut_in(ask, outputs);
        let steps = cut.entry(ask.run()).or_default();
        let by_all = steps.entry(ask.step).or_insert_with(|| shown.clone());
        *by_all = by_all.intersection(&shown).cloned().collect();
    }
    let mut found = Vec::new();
    for ask in requests {
        let shown = cut_in(ask, outputs);
        let earlier = cut[&ask.run()].range(..ask.step).flat_map(|(_, calls)| calls);
        found.extend(earlier.filter(|call| !shown.contains(*call)).map(|call| {
            format!(
                "step {} of {} on {} got the result of {call} whole, which an earlier step had cut",
                ask.step, ask.agent, ask.trigger
            )
        }));
    }
    found
}

/// The calls whose results a request has cut.
fn cut_in(ask: &ModelRequest, outputs: &Outputs<'_>) -> BTreeSet<String> {
    let mut calls = BTreeSet::new();
    for message in ask.before.iter().filter(|message| message.contains(" bytes; ")) {
        let message: Value = serde_json::from_str(message).unwrap_or_default();
        for result in message["results"].as_array().into_iter().flatten() {
            let Some(call) = result["callId"].as_str() else { continue };
            let stored = outputs.get(call).map(|output| parsed(output)).unwrap_or_default();
            if is_cut(&result["output"], &stored) {
                calls.insert(call.to_owned());
            }
        }
    }
    calls
}
