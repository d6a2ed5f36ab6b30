//! Writes `PINNED`: the pinned messages of a space, the one that was pinned last first. Members
//! wrote them, so they stand with the history and not in the system message.

use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    lines::{Lines, file_lines, short_content},
    placed::Placed,
    reading::SpaceContext,
};

/// The longest text of a pinned message, in characters.
const TEXT_CHARS: usize = 300;
/// The most characters of all pinned messages.
const ALL_CHARS: usize = 3_000;

/// Writes the pinned messages. Those that do not fit are listed by their numbers.
pub(super) fn write_pinned(trigger_space: &SpaceContext, lines: &Lines<'_>) -> Placed {
    let mut text = Placed::plain("PINNED:\n");
    let empty = text.len();
    let mut rest = Vec::new();
    let mut chars = 0;
    for pin in trigger_space.space.pins.iter().rev() {
        let Some(message) = trigger_space.message(pin.seq) else { continue };
        if message.deleted.is_some() {
            continue;
        }
        let entry = entry(message, lines);
        chars += entry.chars().count();
        if rest.is_empty() && chars <= ALL_CHARS {
            text.push_message(lines.place_of(message), &entry);
        } else {
            rest.push(format!("#{}", pin.seq));
        }
    }
    if !rest.is_empty() {
        text.push_str(&format!("… and {}; read_messages shows them\n", rest.join(", ")));
    }
    if text.len() == empty { Placed::default() } else { text }
}

/// Writes a pinned message: its line has the day and not the minute.
fn entry(message: &MessageRecord, lines: &Lines<'_>) -> String {
    let files = if message.text.is_empty() { file_lines(&message.files) } else { String::new() };
    format!(
        "#{} {} {}: {}\n{files}",
        message.seq,
        message.created_at.to_date(),
        lines.names.of(&message.sender),
        short_content(lines.names, message, TEXT_CHARS),
    )
}
