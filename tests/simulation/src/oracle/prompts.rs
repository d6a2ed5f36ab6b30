//! Promise 2: a model sees each message as it was when the prompt was made, and no message of its
//! history is missing.
//!
//! No condition of a write refuses a prompt that shows something else.

mod apart;
mod lines;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tokio::time::Instant;

use self::{apart::wrong_blocks, lines::wrong_line};
use crate::{
    ledger::{Ledger, Line, ModelRequest},
    oracle::{Evidence, stored::parsed},
    storage::{ItemState, Shown},
};

/// How many edited messages the line of a summary names.
const EDITED_SHOWN: usize = 20;
/// Stands in the line of a summary for an agent that searches messages.
const SEARCHES: &str = "; search_messages finds words in them";

/// The times between which something was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    from: Instant,
    to: Instant,
}

impl Span {
    /// The states that an item had between these times.
    fn states(self, states: &[ItemState]) -> impl Iterator<Item = &Value> {
        let until = move |index: usize| states.get(index + 1).map(|next| next.at);
        states
            .iter()
            .enumerate()
            .filter(move |(index, state)| {
                state.at <= self.to && until(*index).is_none_or(|until| until >= self.from)
            })
            .map(|(_, state)| &state.item)
    }
}

pub(super) fn models_see_messages_as_they_were(evidence: &mut Evidence<'_>) {
    let shown = evidence.env.storage.shown();
    let ledger = &evidence.ledger;
    let is_fork = |ask: &&ModelRequest| {
        evidence.stored.runs.get(&ask.run_id).is_some_and(|run| !run["forkOf"].is_null())
    };
    let mut found = Vec::new();
    let mut known: BTreeSet<(&str, &Line)> = BTreeSet::new();
    // A fork resends the prompt of another run.
    let asks = ledger.model_requests.iter().chain(&ledger.woken).filter(|ask| !is_fork(ask));
    for ask in asks {
        let Some(span) = span(ledger, ask) else { continue };
        let mut wrong = Vec::new();
        for line in &ask.lines {
            // Later steps resend what the earlier ones showed.
            if known.insert((&ask.run_id, line)) || ask.step == 0 {
                wrong.extend(wrong_line(&shown, line, &ask.agent.to_string(), span));
            }
        }
        if ask.step == 0 && !ask.space.is_empty() {
            wrong.extend(missing_messages(&shown, ask, span));
            wrong.extend(wrong_summary(&shown, ask, span));
            // What a remote agent is sent has no such blocks.
            if !evidence.stored.is_remote(&ask.run_id) {
                let apart = ask.apart.pinned.iter().chain(&ask.apart.parents);
                let agent = ask.agent.to_string();
                wrong.extend(apart.filter_map(|line| wrong_line(&shown, line, &agent, span)));
                wrong.extend(wrong_blocks(ledger, &shown, ask, span));
            }
        }
        let whose = format!("step {} of the run of {} on {}", ask.step, ask.agent, ask.trigger);
        found.extend(wrong.into_iter().map(|what| format!("{whose} {what}")));
    }
    found.extend(wrong_pages(evidence, &shown));
    for text in found {
        evidence.report(2, text);
    }
}

/// The time from the beginning of the invocation that made a request until the request. A process
/// may have got the run several times at once.
fn span(ledger: &Ledger, ask: &ModelRequest) -> Option<Span> {
    let invocations = ledger.invocations.get(&ask.run_id)?.iter();
    let made = invocations.filter(|it| {
        it.process == ask.process
            && it.begun <= ask.sent
            && it.ended.is_none_or(|ended| ended >= ask.sent)
    });
    Some(Span { from: made.map(|it| it.begun).min()?, to: ask.sent })
}

/// When the invocation that made a request began.
pub(super) fn begun(ledger: &Ledger, ask: &ModelRequest) -> Option<Instant> {
    span(ledger, ask).map(|span| span.from)
}

/// The history ends with the newest message of its space, and has all messages since its first.
fn missing_messages(shown: &Shown, ask: &ModelRequest, span: Span) -> Option<String> {
    let of_space = format!("{}#", ask.space);
    let lines = ask.lines.iter().filter(|line| line.message.starts_with(&of_space));
    let numbers: BTreeSet<u64> = lines.filter_map(Line::number).collect();
    let (first, last) = (numbers.first()?, numbers.last()?);
    let stored = shown
        .messages
        .range(of_space.clone()..)
        .take_while(|(message, _)| message.starts_with(&of_space));
    let before = stored.filter(|(_, states)| states[0].at < span.from);
    let newest = before.filter_map(|(message, _)| message.split_once('#')?.1.parse::<u64>().ok());
    let newest = newest.max().unwrap_or(0);
    if newest > *last {
        return Some(format!("was not shown the messages after {last} up to {newest}"));
    }
    (numbers.len() as u64 != last - first + 1)
        .then(|| format!("was shown only some of the messages {first} to {last}: {numbers:?}"))
}

/// A prompt shows a summary that was stored.
fn wrong_summary(shown: &Shown, ask: &ModelRequest, span: Span) -> Option<String> {
    if ask.summary.is_empty() {
        return None;
    }
    let states = shown.summaries.get(&ask.space).map(Vec::as_slice).unwrap_or_default();
    let is_it = |item: &Value| {
        let numbers = format!("{} to {}{}", item["from"], item["to"], edited_since(item));
        let shown = ask.summary.replacen(SEARCHES, "", 1);
        shown == format!("EARLIER (messages {numbers}): {}", item["text"])
    };
    (!span.states(states).any(is_it)).then(|| format!("was shown {}", ask.summary))
}

/// The messages of a summary that were edited since, as prompts name them.
fn edited_since(summary: &Value) -> String {
    let edited = summary["edited"].as_array().map(Vec::as_slice).unwrap_or_default();
    if edited.is_empty() {
        return String::new();
    }
    let first: Vec<_> = edited.iter().take(EDITED_SHOWN).map(|seq| format!("#{seq}")).collect();
    let more = match edited.len().saturating_sub(EDITED_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(", edited since: {}{more}", first.join(", "))
}

/// The messages that tools returned.
fn wrong_pages(evidence: &Evidence<'_>, shown: &Shown) -> Vec<String> {
    let mut found = Vec::new();
    let mut delivered: BTreeMap<String, Instant> = BTreeMap::new();
    delivered.extend(evidence.ledger.delivered.iter().map(|(run, at)| (run.to_string(), *at)));
    let reads =
        |call: &Value| ["enter_space", "read_messages"].iter().any(|name| call["name"] == *name);
    for ((run, step, _), call) in evidence.stored.calls.iter().filter(|(_, call)| reads(call)) {
        let output = parsed(&call["output"]);
        let (Some(text), Some(space), Some(from)) =
            (output.as_str(), call["activeSpace"].as_str(), delivered.get(run))
        else {
            continue;
        };
        let span = Span { from: *from, to: Instant::now() };
        let agent = evidence.stored.runs.get(run).map_or(&json!(null), |run| &run["agentId"]);
        for line in Line::all_in(text, space) {
            let wrong = wrong_line(shown, &line, agent.as_str().unwrap_or_default(), span);
            found.extend(wrong.map(|what| format!("a call of step {step} of {run} {what}")));
        }
    }
    found
}
