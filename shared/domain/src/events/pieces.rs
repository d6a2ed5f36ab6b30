//! Splits a text into pieces that fit a frame each.

use crate::limits::FRAME_BYTES;

/// The size of a piece in bytes of JSON. The rest of the frame is left for the event around it.
const PIECE_BYTES: usize = FRAME_BYTES - 512;

/// Splits `text` into pieces that fit a frame each. Characters are counted as JSON writes them,
/// because escaping makes some of them longer.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let end = rest.char_indices().find(|(_, char)| {
            bytes += json_bytes(*char);
            bytes > PIECE_BYTES
        });
        let (piece, more) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The bytes that a character takes in JSON.
fn json_bytes(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        char => char.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Time,
        events::{Event, EventKind},
        ids::{SpaceId, StreamId},
        limits::STREAM_BYTES,
    };
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_make_the_text_and_fit_a_frame(
            text in prop_oneof![
                ".{0,200}",
                "[\\u{0}-\\u{1f}\"]{0,9000}",
                "(ab|é|😀){0,12000}",
            ],
        ) {
            prop_assert_eq!(pieces(&text).collect::<String>(), text.as_str());
            for piece in pieces(&text) {
                let what = EventKind::StreamSnapshot {
                    stream_id: StreamId::new(Time::default(), 1),
                    offset: Some(usize::MAX),
                    text: piece.into(),
                };
                let event = Event {
                    space_id: SpaceId::new(Time::default(), 1),
                    at: Time::default(),
                    what,
                };
                prop_assert!(serde_json::to_string(&event).unwrap().len() <= FRAME_BYTES);
            }
        }
    }

    #[test]
    fn a_full_stream_takes_two_frames() {
        assert_eq!(pieces(&"x".repeat(STREAM_BYTES)).count(), 2);
    }
}
