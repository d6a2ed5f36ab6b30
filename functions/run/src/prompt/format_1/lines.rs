//! Writes the history in format 1: each message with its id, its time in seconds and its sender's
//! id.

use std::fmt::Write;

use smartspace_domain::{ids::EntityId, messages::Origin, triggers::Trigger};
use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    lines::{content, is_seen},
    quoted::{Name, Quoted},
    reading::SpaceContext,
};

/// Writes the title of the history.
pub(crate) fn heading(place: &SpaceContext) -> String {
    format!("SPACE HISTORY ({}, id: {}):\n", Quoted(&place.space.settings.name), place.space.id)
}

/// Writes the lines of a message. A message of the agent itself also shows why it was sent.
pub(crate) fn entry(message: &MessageRecord, me: EntityId, cursor: u64, trigger: u64) -> String {
    let mut lines = line(message, me, cursor, trigger);
    if let Some(origin) = message.origin.as_ref().filter(|_| message.sender.id == me) {
        // Writing to a String can't fail.
        let _ = writeln!(lines, "      {}", why(origin));
    }
    lines
}

/// Writes the line of a message without the reason, which may name another space.
pub(crate) fn line(message: &MessageRecord, me: EntityId, cursor: u64, trigger: u64) -> String {
    let mine = message.sender.id == me;
    let mark = if is_seen(message, me, cursor) { "[SEEN]" } else { "[NEW] " };
    let mut line = format!(
        "  {mark} [msg:{}] [{}] {} ({}, ",
        message.id,
        message.created_at.to_whole_seconds(),
        Name(&message.sender.name),
        message.sender.kind.as_str()
    );
    // Writing to a String can't fail.
    let _ = if mine { write!(line, "you") } else { write!(line, "id:{}", message.sender.id) };
    let _ = write!(line, "): {}", content(message));
    if message.seq == trigger {
        line.push_str("  ← TRIGGER");
    }
    line.push('\n');
    line
}

/// Writes why a message was sent: the trigger of its run, and the tools used before.
fn why(origin: &Origin) -> String {
    let mut text = match &origin.trigger {
        Trigger::SpaceMessage { space_name, sender, text, .. } => {
            format!(
                "[sent because {} wrote {} in {}",
                Name(&sender.name),
                Quoted(text),
                Quoted(space_name)
            )
        }
        Trigger::Plan { name, .. } => format!("[sent because plan {} fired", Quoted(name)),
        Trigger::Service { service, .. } => {
            format!("[sent because service {} called", Quoted(service))
        }
        Trigger::Hidden(_) => "[sent for a reason that is not told here".to_owned(),
    };
    if !origin.tools_used.is_empty() {
        let used: Vec<_> = origin.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
        let _ = write!(text, "; used {}", used.join(", "));
    }
    text.push(']');
    text
}
