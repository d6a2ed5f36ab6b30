//! `SPACE HISTORY`: who said what, when, and what of it is new.

use std::fmt::Write;

use smartspace_domain::{ids::EntityId, messages::Origin, triggers::Trigger};
use smartspace_store::messages::MessageRecord;

use super::{
    quoted::{Cut, Name, Quoted, Thousands, Who, kind},
    reading::Gathered,
    window,
};

/// Messages in a content block. Blocks end before a multiple of it, so that they come out the same in every prompt.
const BLOCK: u64 = 5;

/// The history as content blocks, and the last message that it shows.
pub(crate) struct Timeline {
    pub(crate) blocks: Vec<String>,
    pub(crate) last: u64,
}

/// Writes the timeline of the space that woke the run.
pub(crate) fn timeline(gathered: &Gathered, window_size: usize, context_window: u32) -> Timeline {
    let me = gathered.agent.id;
    let cursor = gathered.member.cursor;
    let lines: Vec<String> = gathered.messages.iter().map(|message| entry(message, me, cursor, gathered.trigger.seq)).collect();
    let lengths: Vec<usize> = lines.iter().map(|line| line.chars().count()).collect();
    let begin = window::choose(&gathered.messages, &lengths, window_size, context_window);
    let shown = &gathered.messages[begin..];

    let mut block = format!("SPACE HISTORY ({}, id: {}):\n", Quoted(&gathered.space.settings.name), gathered.space.id);
    let first = shown.first().map_or(1, |message| message.seq);
    if first > 1 {
        block.push_str(&earlier(first, cursor));
    }
    let mut blocks = Vec::new();
    for (message, line) in shown.iter().zip(&lines[begin..]) {
        if message.seq.is_multiple_of(BLOCK) && message.seq != first {
            blocks.push(std::mem::take(&mut block));
        }
        block.push_str(line);
    }
    blocks.push(block);
    Timeline { blocks, last: shown.last().map_or(0, |message| message.seq) }
}

/// What stands before the window, and how much of it is new: counted is as good as read.
fn earlier(first: u64, cursor: u64) -> String {
    let new = (first - 1).saturating_sub(cursor);
    let new = if new > 0 { format!(", {} of them [NEW]", Thousands(new)) } else { String::new() };
    format!("  … {} earlier messages{new}; read_messages({{\"before\":{first}}}) shows them\n", Thousands(first - 1))
}

/// The lines of one message.
fn entry(message: &MessageRecord, me: EntityId, cursor: u64, trigger: u64) -> String {
    let mine = message.sender.id == me;
    let mark = if mine || message.seq <= cursor { "[SEEN]" } else { "[NEW] " };
    let mut line = format!(
        "  {mark} [msg:{}] [{}] {} ({}, ",
        message.id,
        message.created_at.to_whole_seconds(),
        Name(&message.sender.name),
        kind(message.sender.kind)
    );
    // Writing to a String can't fail.
    let _ = if mine { write!(line, "you") } else { write!(line, "id:{}", message.sender.id) };
    let _ = write!(line, "): {}", Cut { text: &message.text, more: message.more_chars });
    if message.seq == trigger {
        line.push_str("  ← TRIGGER");
    }
    line.push('\n');
    if let Some(origin) = message.origin.as_ref().filter(|_| mine) {
        let _ = writeln!(line, "      {}", why(origin));
    }
    line
}

/// Why one said it: the trigger, and the tools used before.
fn why(origin: &Origin) -> String {
    let mut text = match &origin.trigger {
        Trigger::SpaceMessage { space_name, sender, text, .. } => {
            format!("[sent because {} wrote {} in {}", Name(&sender.name), Quoted(text), Quoted(space_name))
        }
        Trigger::Plan { name, .. } => format!("[sent because plan {} fired", Quoted(name)),
        Trigger::Service { service, .. } => format!("[sent because service {} called", Quoted(service)),
        Trigger::Hidden(_) => "[sent for a reason that is not told here".to_owned(),
    };
    if !origin.tools_used.is_empty() {
        let used: Vec<_> = origin.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
        let _ = write!(text, "; used {}", used.join(", "));
    }
    text.push(']');
    text
}

/// `Husam (human) in "Project Alpha": "…"`, for a run that was woken there.
pub(crate) fn woken_by(active: &smartspace_store::runs::ActiveRecord) -> String {
    format!("{} in {}: {}", Who(&active.sender), Quoted(&active.space_name), Quoted(&active.text))
}
