//! What an agent had not read stays `[NEW]` until a run that read it has completed.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::Instant;

use super::Evidence;
use crate::{ledger::Line, model::lines};

/// A completed run: when it ended, and how far it had read in each space, by what it was shown or told of. A run whose process died before its
/// first answer was kept is asked anew, and then may have read further: from outside nobody can tell which question counts.
#[derive(Debug)]
struct Read {
    ended: Instant,
    at_least: BTreeMap<String, u64>,
    at_most: BTreeMap<String, u64>,
}

pub(super) fn new_until_a_completed_run_read_it(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let (kept, ledger) = (&evidence.kept, &evidence.ledger);
    let place: BTreeMap<&str, (&str, u64)> = kept
        .all_messages()
        .filter_map(|(space, message)| Some((message["id"].as_str()?, (space.as_str(), message["seq"].as_u64()?))))
        .collect();
    // What completed runs had been shown, by agent.
    let mut read: BTreeMap<String, Vec<Read>> = BTreeMap::new();
    for (id, run) in kept.runs.iter().filter(|(_, run)| run["status"] == "completed") {
        let (Some((ended, _)), Some(agent)) = (evidence.world.storage.noted(id).ended, run["agentId"].as_str()) else { continue };
        let trigger = run["messageId"].as_str().unwrap_or(id);
        let delegated = run["source"] == "delegated";
        let asks = ledger.asks.iter();
        let asks = asks.filter(|ask| ask.delegated == delegated && ask.trigger == trigger && ask.agent.to_string() == agent);
        let (mut at_least, mut at_most) = (BTreeMap::new(), BTreeMap::new());
        for (number, ask) in asks.enumerate() {
            let lasts = lasts(&ask.lines, &place);
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
        // News that was kept with an answer was read, whatever other workers were told.
        for (_, step) in kept.steps.range((id.clone(), 0)..=(id.clone(), u64::MAX)) {
            let news = step["systemMessages"].as_array().into_iter().flatten().filter(|said| said["watcher"] == "news");
            for (space, last) in news.flat_map(|said| lasts(&lines(said["text"].as_str().unwrap_or_default()), &place)) {
                let least = at_least.entry(space).or_insert(0);
                *least = last.max(*least);
            }
        }
        for (_, call) in kept.calls.range((id.clone(), 0, 0)..=(id.clone(), u64::MAX, u64::MAX)) {
            let output: Value = call["output"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            read_further(&mut at_least, &output, &place, false);
            read_further(&mut at_most, &output, &place, true);
        }
        read.entry(agent.to_owned()).or_default().push(Read { ended, at_least, at_most });
    }
    for ask in ledger.asks.iter().filter(|ask| ask.step == 0) {
        let agent = ask.agent.to_string();
        let read = read.get(&agent).map_or(&[][..], Vec::as_slice);
        // Who joins has read what was said before. Whether it was out is known to nobody where no answer came.
        let let_in: Vec<_> = ledger.let_in.iter().filter(|(_, entity)| *entity == ask.agent).map(|(space, _)| space.to_string()).collect();
        let begun = kept.run_of(ask).and_then(|run| ledger.delivered.get(&run.parse().ok()?)).copied();
        for line in ask.lines.iter().filter(|line| !line.own) {
            let Some((space, seq)) = place.get(line.message.as_str()) else { continue };
            let rejoined = let_in.iter().any(|let_in| let_in == space);
            if line.seen {
                let was_read = read.iter().any(|read| read.ended <= ask.at && has(&read.at_most, space, *seq));
                // It came back once, at a number that nobody outside knows for sure.
                if !was_read && !rejoined {
                    found.push(format!(
                        "{agent} was told on {} that it had seen number {seq} of {space}, and no completed run was shown it",
                        ask.trigger
                    ));
                }
            } else if let Some(begun) = begun {
                let was_read = read.iter().any(|read| read.ended < begun && has(&read.at_least, space, *seq));
                if was_read && !rejoined {
                    found.push(format!(
                        "{agent} was told on {} that number {seq} of {space} is new, and a completed run had read it",
                        ask.trigger
                    ));
                }
            }
        }
    }
    for text in found {
        evidence.complain(8, text);
    }
}

/// The last message of each space that lines show.
fn lasts(lines: &[Line], place: &BTreeMap<&str, (&str, u64)>) -> BTreeMap<String, u64> {
    let mut lasts = BTreeMap::new();
    for (space, seq) in lines.iter().filter_map(|line| place.get(line.message.as_str())) {
        let last = lasts.entry((*space).to_owned()).or_insert(0);
        *last = (*seq).max(*last);
    }
    lasts
}

fn has(up_to: &BTreeMap<String, u64>, space: &str, seq: u64) -> bool {
    up_to.get(space).is_some_and(|last| *last >= seq)
}

/// What a result of `enter_space` or `read_messages` shows counts where it leaves no gap, or counts what lies in it. Another run may have closed a
/// `gap` meanwhile, which can't be told from outside.
fn read_further(up_to: &mut BTreeMap<String, u64>, output: &Value, place: &BTreeMap<&str, (&str, u64)>, gap: bool) {
    if let (Some(space), Some(total)) = (output["spaceId"].as_str(), output["totalMessages"].as_u64()) {
        let read = up_to.entry(space.to_owned()).or_default();
        *read = (*read).max(total);
    }
    let shown: Vec<_> =
        output["messages"].as_array().into_iter().flatten().filter_map(|message| place.get(message["id"].as_str()?)).copied().collect();
    if let (Some((space, first)), Some((_, last))) = (shown.first(), shown.last()) {
        let read = up_to.entry((*space).to_owned()).or_default();
        if gap || *first <= *read + 1 {
            *read = (*read).max(*last);
        }
    }
}
