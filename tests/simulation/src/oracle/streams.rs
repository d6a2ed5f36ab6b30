//! Streamed text is the text of its stored message, and in a large room it reaches everyone who
//! follows. This belongs to no promise, and has the number 10.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use smartspace_domain::limits::RoomLimits;
use tokio::time::Instant;

use crate::{env::Env, locked, oracle::Evidence, snapshots::FAULTS_LAST};

/// A connection that subscribes in the middle of a stream has its text after this time. The product
/// promises a second.
const COMPLETE_AFTER: Duration = Duration::from_secs(3);

/// A run has read the followers of a stream at most so long before its first text.
const READ_BEFORE: Duration = Duration::from_secs(30);

pub(super) fn a_stream_is_its_message(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (person, seen) in &evidence.seen {
        for (stream, (message, text, space)) in &seen.became {
            let streamed: Vec<_> = seen
                .streams
                .get(stream)
                .into_iter()
                .flatten()
                .enumerate()
                .filter_map(|(at, unit)| Some((at, (*unit)?)))
                .collect();
            // The stream of a card may contain its space, but the card does not.
            let to_space = text.replacen('{', &format!("{{\"targetSpaceId\":\"{space}\","), 1);
            let differs = |whole: &str| {
                let whole: Vec<u16> = whole.encode_utf16().collect();
                streamed.iter().find(|(at, unit)| whole.get(*at) != Some(unit)).map(|(at, _)| *at)
            };
            if let (Some(at), Some(_)) = (differs(text), differs(&to_space)) {
                found.push(format!(
                    "person {} saw a stream of {message} that differs from it at {at}",
                    person.index
                ));
            }
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}

/// A stream that became a message, when all faults were over.
struct Shown<'a> {
    space: &'a str,
    text: &'a str,
    first: Instant,
    last: Instant,
}

/// In a large room, whoever follows a space sees every text of the calm phase completely: jobs post
/// the frames, and who joins in the middle gets a snapshot.
pub(super) fn everyone_sees_whole_streams(evidence: &mut Evidence<'_>) {
    let env = evidence.env;
    let Some(calm) = env.calm_since().filter(|_| env.parameters.room_limits != RoomLimits::SPACE)
    else {
        return;
    };
    let shown = shown_streams(evidence, calm + FAULTS_LAST);
    let keys = present_keys(env);
    let has = |space: &str, key: String| keys.contains(&(format!("SPACE#{space}"), key));
    let mut found = Vec::new();
    for (stream, Shown { space, text, first, last }) in &shown {
        let is_whole = |units: Option<&Vec<Option<u16>>>| {
            let units = units.map_or(&[][..], Vec::as_slice);
            units.len() >= text.encode_utf16().count() && units.iter().all(Option::is_some)
        };
        // A run reads the followers while it asks its model. Later followers get the text after a
        // while, unless the stream ends before.
        let shows = |since: Instant| {
            since + READ_BEFORE <= *first || *last >= since.max(*first) + COMPLETE_AFTER
        };
        for (person, seen) in &evidence.seen {
            let follows =
                person.open_connection().is_some_and(|id| has(space, format!("CONN#{id}")));
            let since = space.parse().ok().and_then(|space| person.follows_since(space));
            if follows
                && since.is_some_and(shows)
                && has(space, format!("MEMBER#{}", person.id))
                && !is_whole(seen.streams.get(*stream))
            {
                found.push(format!("person {} saw only parts of {stream}", person.index));
            }
        }
        for late in locked(&env.latecomers).iter() {
            let follows = env.connections.is_open(&late.connection)
                && late.space.to_string() == **space
                && has(space, format!("CONN#{}", late.connection));
            let seen = late.view.seen();
            let until = late.since + COMPLETE_AFTER;
            if !follows || *last < until {
                continue;
            }
            if !is_whole(seen.streams.get(*stream)) {
                found.push(format!("{} joined {stream} and saw only parts", late.connection));
            }
            if *first < late.since
                && seen.heard.get(*stream).is_none_or(|heard| heard.first > until)
            {
                found.push(format!("{} joined {stream} and waited for its text", late.connection));
            }
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}

/// The keys of all items except those of members that have left.
fn present_keys(env: &Env) -> BTreeSet<(String, String)> {
    let items = env.storage.items();
    let present = items.iter().filter(|item| item["left"] != true);
    present
        .filter_map(|item| Some((item["PK"].as_str()?.into(), item["SK"].as_str()?.into())))
        .collect()
}

/// The streams that began after `from` and became messages. The streams of cards have another text
/// than their messages.
fn shown_streams<'a>(evidence: &'a Evidence<'_>, from: Instant) -> BTreeMap<&'a str, Shown<'a>> {
    let mut shown: BTreeMap<&str, Shown<'_>> = BTreeMap::new();
    for (_, seen) in &evidence.seen {
        for (stream, (_, text, space)) in &seen.became {
            let Some(heard) = seen.heard.get(stream) else { continue };
            let known = shown.entry(stream).or_insert(Shown {
                space,
                text,
                first: heard.first,
                last: heard.last,
            });
            known.first = known.first.min(heard.first);
            known.last = known.last.max(heard.last);
        }
    }
    shown.retain(|_, shown| shown.first >= from && !shown.text.starts_with('{'));
    shown
}
