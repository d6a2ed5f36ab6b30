//! Writes the history in format 2: each message with its number, its time in minutes and the name
//! of its sender.

use std::fmt::Write;

use smartspace_domain::{
    ids::{EntityId, SpaceId},
    messages::Origin,
    triggers::Trigger,
};
use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    lines::{Lines, content},
    names::Names,
    quoted::{Name, Quoted},
    reading::SpaceContext,
};

/// Writes the title of the history.
pub(crate) fn heading(place: &SpaceContext) -> String {
    format!("SPACE HISTORY {}:\n", Quoted(&place.space.settings.name))
}

/// Writes the lines of a message. A message of the agent itself also shows why it was sent.
pub(crate) fn entry(lines: &Lines<'_>, message: &MessageRecord) -> String {
    let mut written = line(lines, message);
    if let Some(origin) = message.origin.as_ref().filter(|_| message.sender.id == lines.me) {
        // Writing to a String can't fail.
        let _ = writeln!(written, "[{}]", why_among(lines.names, lines.space, origin));
    }
    written
}

/// Writes the line of a message without the reason, which may name another space.
pub(crate) fn line(lines: &Lines<'_>, message: &MessageRecord) -> String {
    let mark = if lines.is_seen(message) { "" } else { "[NEW] " };
    let trigger = if message.seq == lines.trigger { "  ← TRIGGER" } else { "" };
    format!(
        "{mark}#{} {} {}: {}{trigger}\n",
        message.seq,
        message.created_at.to_minutes(),
        lines.names.of(&message.sender),
        content(message)
    )
}

/// Writes why the agent sent a message to a space: the trigger of its run, and the tools used
/// before.
pub(crate) fn why(space: SpaceId, me: EntityId, origin: &Origin) -> String {
    why_among(&Names::new(me, []), space, origin)
}

/// The same, with the name of a sender as a prompt writes it.
fn why_among(names: &Names, space: SpaceId, origin: &Origin) -> String {
    let mut text = match &origin.trigger {
        Trigger::SpaceMessage { space_id, seq, .. } if *space_id == space => {
            format!("answering #{seq}")
        }
        trigger => cause(names, trigger),
    };
    if !origin.tools_used.is_empty() {
        let used: Vec<_> = origin.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
        let _ = write!(text, "; used {}", used.join(", "));
    }
    text
}

/// Writes why a message was sent whose run another space, a plan or a service triggered.
fn cause(names: &Names, trigger: &Trigger) -> String {
    match trigger {
        Trigger::SpaceMessage { space_name, sender, text, .. } => format!(
            "sent because {} wrote {} in {}",
            names.of(sender),
            Quoted(text),
            Quoted(space_name)
        ),
        Trigger::Plan { name, .. } => format!("sent because plan {} fired", Quoted(name)),
        Trigger::Service { service, .. } => {
            format!("sent because service {} called", Quoted(service))
        }
        Trigger::Hidden(_) => "sent for a reason that is not told here".to_owned(),
    }
}
