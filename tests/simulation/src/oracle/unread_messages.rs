//! Promise 8: a message stays `[NEW]` for an agent until a run that read it has completed.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::Instant;

use crate::ledger::{Line, ModelRequest};
use crate::oracle::{Evidence, stored::parsed};

/// The space and the number of each message, by its id.
type Places<'a> = BTreeMap<&'a str, (&'a str, u64)>;
/// A message number for each space.
type Numbers = BTreeMap<String, u64>;

/// A completed run: when it ended, and how far it read in each space.
///
/// A run whose process died before its first answer was stored asks its model again, and may have
/// read further by then. The oracle can't tell which of these requests counts.
#[derive(Debug)]
struct Read {
    ended: Instant,
    at_least: Numbers,
    at_most: Numbers,
}

pub(super) fn messages_are_new_until_a_completed_run_read_them(evidence: &mut Evidence<'_>) {
    let places: Places<'_> = evidence
        .stored
        .all_messages()
        .filter_map(|(space, message)| {
            Some((message["id"].as_str()?, (space.as_str(), message["seq"].as_u64()?)))
        })
        .collect();
    let mut read: BTreeMap<&str, Vec<Read>> = BTreeMap::new();
    for (id, run) in &evidence.stored.runs {
        // A fork reads what another run has read.
        if run["status"] != "completed" || !run["forkOf"].is_null() {
            continue;
        }
        if let (Some(agent), Some(by_run)) =
            (run["agentId"].as_str(), read_by(evidence, id, run, &places))
        {
            read.entry(agent).or_default().push(by_run);
        }
    }
    let mut found = Vec::new();
    let of_fork = |trigger: &str| {
        evidence.stored.runs.get(trigger).is_some_and(|run| !run["forkOf"].is_null())
    };
    let firsts = evidence.ledger.model_requests.iter().filter(|ask| ask.step == 0);
    let firsts = firsts.chain(&evidence.ledger.woken);
    for ask in firsts.filter(|ask| !of_fork(&ask.trigger)) {
        let read = read.get(ask.agent.to_string().as_str()).map_or(&[][..], Vec::as_slice);
        found.extend(wrong_marks(evidence, ask, read, &places));
    }
    for text in found {
        evidence.report(8, text);
    }
}

/// How far a completed run read.
fn read_by(evidence: &Evidence<'_>, id: &str, run: &Value, places: &Places<'_>) -> Option<Read> {
    let (ended, _) = evidence.env.storage.run_writes(id).ended?;
    let agent = run["agentId"].as_str()?;
    let is_first = run["retryOf"].is_null() && run["source"] != "unanswered";
    let trigger = run["messageId"].as_str().filter(|_| is_first).unwrap_or(id);
    let delegated = run["source"] == "delegated";
    let asks = evidence.ledger.model_requests.iter().chain(&evidence.ledger.woken).filter(|ask| {
        ask.delegated == delegated && ask.trigger == trigger && ask.agent.to_string() == agent
    });
    let (mut at_least, mut at_most) = shown_by_all(asks, places);
    // News that is stored with an answer was read, even if other workers got other news.
    let steps = evidence.stored.steps.range((id.to_owned(), 0)..=(id.to_owned(), u64::MAX));
    for (_, step) in steps {
        for said in step["systemMessages"].as_array().into_iter().flatten() {
            if said["watcher"] != "news" {
                continue;
            }
            let news = Line::all_in_news(said["text"].as_str().unwrap_or_default());
            for (space, last) in lasts(&news, places) {
                let least = at_least.entry(space).or_insert(0);
                *least = last.max(*least);
            }
        }
    }
    let calls =
        evidence.stored.calls.range((id.to_owned(), 0, 0)..=(id.to_owned(), u64::MAX, u64::MAX));
    for (_, call) in calls {
        if ["enter_space", "read_messages"].contains(&call["name"].as_str().unwrap_or_default()) {
            read_further(&mut at_least, call, false);
            read_further(&mut at_most, call, true);
        }
    }
    // A webhook that is sent again shows more than the first one, by which the agent has read.
    if evidence.stored.is_remote(id) && run["attempt"] != 1 {
        at_least.clear();
    }
    Some(Read { ended, at_least, at_most })
}

/// How far each space was shown by all of these requests, and by any of them.
fn shown_by_all<'a>(
    asks: impl Iterator<Item = &'a ModelRequest>,
    places: &Places<'_>,
) -> (Numbers, Numbers) {
    let mut at_least = Numbers::new();
    let mut at_most = Numbers::new();
    for (number, ask) in asks.enumerate() {
        let lasts = lasts(&ask.lines, places);
        for (space, last) in &lasts {
            let most = at_most.entry(space.clone()).or_insert(0);
            *most = (*last).max(*most);
        }
        if number == 0 {
            at_least = lasts;
        } else {
            at_least.retain(|space, least| {
                lasts.get(space).is_some_and(|last| {
                    *least = (*least).min(*last);
                    true
                })
            });
        }
    }
    (at_least, at_most)
}

/// Messages that the first request of a run marks wrongly as seen or as new.
fn wrong_marks(
    evidence: &Evidence<'_>,
    ask: &ModelRequest,
    read: &[Read],
    places: &Places<'_>,
) -> Vec<String> {
    let mut found = Vec::new();
    // An entity that joins counts as having read all earlier messages. The oracle does not know
    // the number at which it joined again.
    let has_rejoined = |space: &str| {
        let readmitted = evidence.ledger.readmitted.iter();
        readmitted
            .filter(|(_, entity)| *entity == ask.agent)
            .any(|(readmitted, _)| readmitted.to_string() == space)
    };
    let begun = evidence
        .stored
        .run_of(ask)
        .and_then(|run| evidence.ledger.delivered.get(&run.parse().ok()?))
        .copied();
    // The line of a tombstone has no mark.
    for line in ask.lines.iter().filter(|line| !line.own && !line.is_deleted()) {
        let Some((space, seq)) = place_of(line, places) else { continue };
        if line.seen {
            let was_read =
                read.iter().any(|read| read.ended <= ask.at && has(&read.at_most, space, seq));
            if !was_read && !has_rejoined(space) {
                found.push(format!(
                    "the run of {} on {} saw number {seq} of {space} marked as seen, \
                     but no completed run had read it",
                    ask.agent, ask.trigger
                ));
            }
        } else if let Some(begun) = begun.filter(|_| !ask.answers(line)) {
            let was_read =
                read.iter().any(|read| read.ended < begun && has(&read.at_least, space, seq));
            if was_read && !has_rejoined(space) {
                found.push(format!(
                    "the run of {} on {} saw number {seq} of {space} marked as new, \
                     but a completed run had read it",
                    ask.agent, ask.trigger
                ));
            }
        }
    }
    found
}

/// The last message of each space that lines show.
fn lasts(lines: &[Line], places: &Places<'_>) -> Numbers {
    let mut lasts = Numbers::new();
    for (space, seq) in lines.iter().filter_map(|line| place_of(line, places)) {
        let last = lasts.entry(space.to_owned()).or_insert(0);
        *last = seq.max(*last);
    }
    lasts
}

/// The space and the number of the message that a line shows.
fn place_of<'a>(line: &'a Line, places: &Places<'a>) -> Option<(&'a str, u64)> {
    match line.message.split_once('#') {
        Some((space, number)) => Some((space, number.parse().ok()?)),
        None => places.get(line.message.as_str()).copied(),
    }
}

fn has(up_to: &Numbers, space: &str, seq: u64) -> bool {
    up_to.get(space).is_some_and(|last| *last >= seq)
}

/// Adds what the result of a call of `enter_space` or `read_messages` shows. Messages after a gap
/// count only if `gap` is set: another run may have closed the gap meanwhile, which the oracle
/// can't tell.
fn read_further(up_to: &mut Numbers, call: &Value, gap: bool) {
    let output = parsed(&call["output"]);
    let (Some(text), Some(space)) = (output.as_str(), call["activeSpace"].as_str()) else {
        return;
    };
    // The model reads the active space and no other one.
    let shown = Line::all_in(text, space);
    let numbers = || shown.iter().filter_map(Line::number);
    let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else { return };
    let read = up_to.entry(space.to_owned()).or_default();
    // The result of `enter_space` counts the messages before its first line.
    if call["name"] == "enter_space" || gap || first <= *read + 1 {
        *read = (*read).max(last);
    }
}
