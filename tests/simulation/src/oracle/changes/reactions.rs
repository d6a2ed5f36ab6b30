//! Reactions: each counts once, as its entity asked for it last, and none outlives its message.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tokio::time::Instant;

use crate::{
    ledger::{ChangeKind, SentChange},
    oracle::{
        Evidence,
        stored::{parsed, reaction_counts, reactions_in},
    },
    storage::Shown,
};

/// An emoji with this selector and one without it are the same.
const SELECTOR: &str = "\u{fe0f}";
/// The emoji that people and models use, in the one form in which they are stored.
const STORED: [&str; 3] = ["👍", "🎉", "❤️"];

pub(super) fn a_reaction_counts_once(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    let mut reactions: BTreeSet<(String, u64, String, String)> = BTreeSet::new();
    for ((space, seq), item) in &stored.reactions {
        if stored.is_deleted(space) {
            continue;
        }
        if stored.is_tombstone(space, *seq) {
            found.push(format!("the tombstone {space}#{seq} has reactions: {item}"));
        }
        for (emoji, entity) in reactions_in(item) {
            if !STORED.contains(&emoji.as_str()) {
                found
                    .push(format!("{entity} reacted in another form, {emoji:?}, to {space}#{seq}"));
            }
            let emoji = emoji.replace(SELECTOR, "");
            if !reactions.insert((space.clone(), *seq, emoji.clone(), entity.clone())) {
                found.push(format!("{entity} counts twice for {emoji} at {space}#{seq}"));
            }
        }
    }
    let is_there = |space: &str, seq: u64, emoji: &str, entity: &str| {
        let emoji = emoji.replace(SELECTOR, "");
        reactions.contains(&(space.to_owned(), seq, emoji, entity.to_owned()))
    };
    for (change, on) in last_of_people(&evidence.ledger.changes) {
        let SentChange { by, space, seq, text, .. } = change;
        let [space, by] = [space.to_string(), by.to_string()];
        let is_gone = stored.is_deleted(&space) || stored.is_tombstone(&space, *seq);
        if !is_gone && is_there(&space, *seq, text, &by) != on {
            found.push(format!("{by} reacted {text} to {space}#{seq}: {on}, which is not stored"));
        }
    }
    let reacts = |call: &Value| call["name"] == "react" && call["status"] == "completed";
    for (place, call) in stored.calls.iter().filter(|(_, call)| reacts(call)) {
        let input = stored.begun(place).map(|begun| parsed(&begun["input"])).unwrap_or_default();
        let space = call["activeSpace"].as_str().unwrap_or_default();
        let seq = input["seq"].as_u64().unwrap_or_default();
        let emoji = input["emoji"].as_str().unwrap_or_default();
        let agent = stored.runs[&place.0]["agentId"].as_str().unwrap_or_default();
        let is_gone = stored.is_deleted(space) || stored.is_tombstone(space, seq);
        if !is_gone && !space.is_empty() && !is_there(space, seq, emoji, agent) {
            found.push(format!("{agent} reacted {emoji} to {space}#{seq}, which is not stored"));
        }
    }
    found
}

/// Frames with reactions that were never stored.
pub(super) fn frames_show_stored_reactions(evidence: &Evidence<'_>, shown: &Shown) -> Vec<String> {
    let mut found = Vec::new();
    for (person, seen) in &evidence.seen {
        for ((space, seq, rev), reactions) in &seen.reactions {
            let states = shown.reactions.get(&format!("{space}#{seq}"));
            let mut states = states.into_iter().flatten().map(|state| &state.item);
            if !states.any(|item| item["rev"] == *rev && reaction_counts(item) == *reactions) {
                found.push(format!(
                    "person {} saw {reactions:?} in the revision {rev} of the reactions to \
                     {space}#{seq}, which were never so",
                    person.index
                ));
            }
        }
    }
    found
}

/// The last requests of people about their reactions, and whether they asked for one, if no other
/// request came at the same time.
fn last_of_people(changes: &[SentChange]) -> Vec<(&SentChange, bool)> {
    let mut by_reaction: BTreeMap<_, Vec<&SentChange>> = BTreeMap::new();
    let is_reaction =
        |change: &&SentChange| [ChangeKind::React, ChangeKind::Unreact].contains(&change.kind);
    for change in changes.iter().filter(is_reaction) {
        let emoji = change.text.replace(SELECTOR, "");
        by_reaction.entry((change.by, change.space, change.seq, emoji)).or_default().push(change);
    }
    let ends = |change: &SentChange| -> Option<Instant> { change.answered.map(|(at, _)| at) };
    let mut last = Vec::new();
    for requests in by_reaction.values() {
        let Some(newest) = requests.iter().max_by_key(|change| change.sent) else { continue };
        let others = requests.iter().filter(|other| !std::ptr::eq(**other, *newest));
        let is_alone =
            others.into_iter().all(|other| ends(other).is_some_and(|at| at < newest.sent));
        if is_alone && newest.answered.is_some_and(|(_, status)| status == 200) {
            last.push((*newest, newest.kind == ChangeKind::React));
        }
    }
    last
}
