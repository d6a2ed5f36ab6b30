//! Lists of spaces: the heads are where the last messages put them, and count the tool cards.

use std::time::Duration;

use serde_json::Value;
use smartspace_domain::Time;

use crate::oracle::Evidence;

/// Messages move a space in the list by activity at most this often.
const MOVED_EVERY: Duration = Duration::from_mins(1);

pub(super) fn spaces_are_listed_by_activity(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for head in evidence.env.storage.items().iter().filter(|item| item["SK"] == "HEAD") {
        let Some(space) = head["PK"].as_str().and_then(|pk| pk.strip_prefix("SPACE#")) else {
            continue;
        };
        let messages = evidence.stored.messages.get(space);
        let messages: Vec<_> = messages.into_iter().flat_map(|all| all.values()).collect();
        if !is_in_place(head, space, messages.last().copied()) {
            found.push(format!("{space} is not listed where its last message was: {head}"));
        }
        if !counts_cards(head, &messages) {
            found.push(format!("{space} and its messages count other cards: {head}"));
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}

/// Whether a head is in the list, at a place that is less than a minute before its last message.
fn is_in_place(head: &Value, space: &str, last: Option<&Value>) -> bool {
    let time = |text: &str| text.parse::<Time>().ok();
    let at = head["at"].as_str().and_then(time);
    let place = head["g2sk"].as_str().and_then(|place| place.split_once('#'));
    let moved = place.and_then(|(moved, of)| time(moved).filter(|_| of == space));
    let is_last = last.is_none_or(|last| head["at"] == last["createdAt"]);
    head["g2pk"] == "SPACES#ACTIVITY"
        && is_last
        && at.zip(moved).is_some_and(|(at, moved)| at.since(moved) < MOVED_EVERY)
}

/// Whether each message counts the cards up to it, and the head all of them.
fn counts_cards(head: &Value, messages: &[&Value]) -> bool {
    let mut count = 0;
    let is_counted = messages.iter().all(|message| {
        let cards = message["cards"].as_u64().unwrap_or(0);
        // A deleted message no longer says whether it was a card.
        let may_be = !message["deleted"].is_null() && cards == count + 1;
        count += u64::from(!message["card"].is_null() || may_be);
        cards == count
    });
    is_counted && head["cards"].as_u64().unwrap_or(0) == count
}
