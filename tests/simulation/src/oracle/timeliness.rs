//! A connection without faults sees every message within a second after its sender learned that it
//! is stored, and a stream within a second after the others. It sees them without a ping.

use std::{collections::BTreeMap, time::Duration};

use crate::oracle::Evidence;

/// How long a message or a stream may take.
const IN_TIME: Duration = Duration::from_secs(1);

pub(super) fn messages_arrive_in_time(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for post in &evidence.ledger.watched {
        let space = post.space.to_string();
        for (index, since) in &post.followers {
            let until = post.at.max(*since) + IN_TIME;
            let seen = evidence.seen.iter().filter(|(person, _)| person.index == *index);
            let came = seen.flat_map(|(_, seen)| &seen.frames).any(|frame| {
                frame.seq == Some(post.seq)
                    && frame.space == space
                    && frame.kind.starts_with("message.")
                    && frame.at <= until
            });
            if !came {
                found.push(format!(
                    "person {index} follows {space} and did not see number {} within a second",
                    post.seq
                ));
            }
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}

/// The streams that begin while people watch. A follower sees each of them at most a second after
/// the first one who sees it.
pub(super) fn streams_arrive_in_time(evidence: &mut Evidence<'_>) {
    let mut began = BTreeMap::new();
    for (person, seen) in &evidence.seen {
        for frame in seen.frames.iter().filter(|frame| frame.kind.starts_with("stream.")) {
            let key = (frame.space.as_str(), frame.stream.as_str());
            let of_stream: &mut BTreeMap<usize, _> = began.entry(key).or_default();
            of_stream.entry(person.index).or_insert(frame.at);
        }
    }
    let mut found = Vec::new();
    for ((space, stream), people) in &began {
        let Some(first) = people.values().min() else { continue };
        for post in &evidence.ledger.watched {
            // People watch for three seconds after a post.
            let window = post.at..post.at + 2 * IN_TIME;
            if post.space.to_string() != *space || !window.contains(first) {
                continue;
            }
            for (index, since) in &post.followers {
                // A short stream may be over before it finds a follower that has just come.
                let followed = *since <= post.at || *since + IN_TIME <= *first;
                let until = *first + IN_TIME;
                if followed && people.get(index).is_none_or(|seen| *seen > until) {
                    found.push(format!(
                        "person {index} follows {space} and saw the stream {stream} a second later"
                    ));
                }
            }
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}
