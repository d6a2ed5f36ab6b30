//! Promise 15: a search shows nothing that is deleted, edited away or not the caller's, and misses
//! nothing of what it says that it has searched.
//!
//! Each answer lies between two naive searches: over the messages when it was asked for, and over
//! those when it arrived. `wordings` knows when each text was there, and `blocks` looks for words
//! of texts that are gone in what is stored.

mod blocks;
mod wordings;

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

use self::wordings::Wordings;
use crate::{
    ledger::searches::{Absence, SearchPage, SentSearch},
    oracle::Evidence,
    storage::Shown,
};

/// So much later the spaces of an entity surely have one that it has joined again.
const INDEX_LAG: Duration = Duration::from_secs(5);
/// The most items of one part of a ranked search.
const MOST_ITEMS: usize = 100;

pub(super) fn searches_show_what_is_there(evidence: &mut Evidence<'_>) {
    let shown = evidence.env.storage.shown();
    let wordings = Wordings::of(&shown);
    let mut found = Vec::new();
    for search in &evidence.ledger.searches.sent {
        for page in &search.pages {
            found.extend(wrong_items(&wordings, search, page));
            found.extend(shown_to_a_stranger(evidence, search, page));
        }
        found.extend(missed(evidence, &shown, &wordings, search));
    }
    found.extend(blocks::blocks_hold_no_word_that_is_gone(evidence, &wordings));
    found.extend(agents_are_shown_no_old_text(evidence, &wordings));
    for text in found {
        evidence.report(15, text);
    }
}

/// What is wrong with the items of an answer, by the messages of that moment.
fn wrong_items(wordings: &Wordings<'_>, search: &SentSearch, page: &SearchPage) -> Vec<String> {
    let query = search.query.text();
    let mut found = Vec::new();
    if ![200, 404].contains(&page.status) {
        found.push(format!("a search for {query} got {}: {}", page.status, page.body));
    }
    for item in items(page) {
        for name in names(item) {
            let mut states = wordings.during(&name, page.from, page.to);
            if !states.any(|state| search.query.matches(state)) {
                found.push(format!("a search for {query} shows {name}, which did not match then"));
            }
        }
        // The excerpt, and the messages before and after it.
        let old = wordings.old_in(&item.to_string(), page.from);
        found.extend(old.into_iter().map(|name| {
            format!("a search for {query} shows a text of {name} that was gone before")
        }));
        found.extend(wrong_mark(search, item));
    }
    found
}

/// A mark of an excerpt that shows something else than a term of the query.
fn wrong_mark(search: &SentSearch, item: &Value) -> Option<String> {
    let excerpt: Vec<u16> = item["excerpt"].as_str().unwrap_or_default().encode_utf16().collect();
    let marked = |mark: &Value| {
        let place = |name: &str| mark[name].as_u64().unwrap_or(u64::MAX) as usize;
        let units = excerpt.get(place("start")..place("end")).unwrap_or_default();
        String::from_utf16_lossy(units)
    };
    let marks = item["matches"].as_array().into_iter().flatten().map(marked);
    let is_wrong = |mark: &String| !search.query.terms.iter().any(|term| term.is_marked_by(mark));
    let wrong = marks.into_iter().find(is_wrong)?;
    Some(format!("a search for {} marks {wrong:?} in {}", search.query.text(), item["excerpt"]))
}

/// An answer with messages of the archive for somebody who was not a member all the time.
fn shown_to_a_stranger(
    evidence: &Evidence<'_>,
    search: &SentSearch,
    page: &SearchPage,
) -> Option<String> {
    let records = &evidence.ledger.searches;
    let archive = records.archive.as_ref()?.space.to_string();
    let is_out = |absence: &Absence| {
        let time = absence.out.filter(|_| absence.entity == search.by);
        time.is_some_and(|(from, to)| from <= page.from && page.to <= to)
    };
    if !records.absences.iter().any(is_out) {
        return None;
    }
    if search.names_space && page.status != 404 {
        return Some(format!(
            "{} had left {archive}, and a search of it got {}",
            search.by, page.status
        ));
    }
    let mut items = items(page).filter(|item| item["spaceId"] == archive.as_str());
    items.next().map(|item| format!("{} had left {archive}, and found {}", search.by, item["seq"]))
}

/// A message that matched all the time, and that a search did not show.
fn missed(
    evidence: &Evidence<'_>,
    shown: &Shown,
    wordings: &Wordings<'_>,
    search: &SentSearch,
) -> Option<String> {
    let records = &evidence.ledger.searches;
    let archive = records.archive.as_ref()?.space.to_string();
    let (from, to) = search.time().filter(|_| search.is_whole())?;
    let was_away = |absence: &Absence| {
        absence.entity == search.by
            && absence.sent <= to
            && absence.back.is_none_or(|back| from <= back + INDEX_LAG)
    };
    if records.absences.iter().any(was_away) {
        return None;
    }
    let of_archive = || {
        let first = format!("{archive}#");
        shown.messages.range(first.clone()..).take_while(move |(name, _)| name.starts_with(&first))
    };
    // A change between two pages moves messages across their border.
    let time = from..=to;
    let mut states = of_archive().flat_map(|(_, states)| states);
    if search.pages.len() > 1 && states.any(|state| time.contains(&state.at)) {
        return None;
    }
    // One part of a ranked search shows its best items only.
    if search.pages.iter().flat_map(items).count() >= MOST_ITEMS {
        return None;
    }
    let found: BTreeSet<String> = search.pages.iter().flat_map(items).flat_map(names).collect();
    let matched = |name: &str, created: Instant| {
        created < from && wordings.during(name, from, to).all(|state| search.query.matches(state))
    };
    let mut missing = of_archive().filter(|(name, states)| {
        let created = states.first().map(|state| state.at);
        created.is_some_and(|created| matched(name, created)) && !found.contains(*name)
    });
    missing.next().map(|(name, _)| {
        format!(
            "a search for {} of {} pages misses {name}",
            search.query.text(),
            search.pages.len()
        )
    })
}

/// Texts that were gone when an agent's model asked for them, in the results of its searches.
fn agents_are_shown_no_old_text(evidence: &Evidence<'_>, wordings: &Wordings<'_>) -> Vec<String> {
    let Evidence { ledger, stored, .. } = evidence;
    let searches = stored.calls.iter().filter(|(_, call)| call["name"] == "search_messages");
    let mut found = Vec::new();
    for (place, call) in searches {
        let Some(begun) = stored.begun(place) else { continue };
        let input = begun["input"].to_string();
        let mut words = input.split(|letter: char| !letter.is_ascii_alphanumeric());
        let drawn = words.find_map(|word| ledger.searches.by_agents.get(word));
        let Some(drawn) = drawn else { continue };
        let old = wordings.old_in(&call["output"].to_string(), *drawn);
        found.extend(old.into_iter().map(|name| {
            format!("the search {input} of an agent shows a text of {name} that was gone before")
        }));
    }
    found
}

fn items(page: &SearchPage) -> impl Iterator<Item = &Value> {
    page.body["items"].as_array().into_iter().flatten()
}

/// The messages of an item: `spc_…#17`.
fn names(item: &Value) -> Vec<String> {
    let space = item["spaceId"].as_str().unwrap_or_default();
    let others = item["alsoSeqs"].as_array().into_iter().flatten();
    let numbers = [&item["seq"]].into_iter().chain(others).filter_map(Value::as_u64);
    numbers.map(|seq| format!("{space}#{seq}")).collect()
}
