//! Streamed text is the text of its stored message. This belongs to no promise, and has the number
//! 10.

use crate::oracle::Evidence;

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
