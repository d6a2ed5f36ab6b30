//! What streamed is what was kept. No promise by itself, but what all of live text is worth.

use super::Evidence;

pub(super) fn a_stream_is_its_message(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (person, seen) in &evidence.seen {
        for (stream, (message, text)) in &seen.became {
            let whole: Vec<u16> = text.encode_utf16().collect();
            let streamed = seen.streams.get(stream).into_iter().flatten().enumerate();
            for (at, unit) in streamed.filter_map(|(at, unit)| Some((at, (*unit)?))) {
                if whole.get(at) != Some(&unit) {
                    found.push(format!("person {} saw a stream of {message} that differs from it at {at}", person.index));
                    break;
                }
            }
        }
    }
    for text in found {
        evidence.complain(10, text);
    }
}
