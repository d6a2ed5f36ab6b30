//! Writes `EARLIER` and `SPACE HISTORY`: the summary of older messages, and the messages of the
//! window, marked as seen or new.

use std::fmt::Write;

use smartspace_domain::{ids::EntityId, messages::Origin, triggers::Trigger};
use smartspace_store::{messages::MessageRecord, spaces::summaries::SummaryRecord};

use crate::prompt::{
    quoted::{CardJson, CutText, Name, Quoted, Thousands},
    reading::SpaceContext,
    window::Window,
};

/// Messages in a content block. A block ends before a multiple of this number, so that it is the
/// same in every prompt.
const BLOCK: u64 = 5;
/// Messages in a part that is stored once for many prompts. A window of the usual size moves by the
/// same number, so parts stay the same until it moves.
const PART: u64 = 25;

/// The history as content blocks.
pub(crate) struct Timeline {
    /// Oldest first.
    pub(crate) blocks: Vec<String>,
    /// The last block that later prompts repeat unchanged: it is full and has no new message.
    pub(crate) settled: Option<usize>,
    /// The indexes of the blocks before which a shared part ends.
    pub(crate) cuts: Vec<usize>,
}

/// Writes the timeline of the space that triggered the run.
pub(crate) fn timeline(place: &SpaceContext, window: &Window<'_>, me: EntityId) -> Timeline {
    let first = window.first();
    let cursor = place.member.cursor;
    let trigger = place.trigger.seq;
    let mut blocks: Vec<String> = summary_before(place, first).into_iter().collect();
    let mut block = heading(place);
    block.push_str(&earlier(first, cursor, "[NEW]"));
    let mut settled = None;
    let mut cuts = Vec::new();
    let mut all_seen = true;
    for (message, lines) in window.messages.iter().zip(&window.lines) {
        if message.seq.is_multiple_of(BLOCK) && message.seq != first {
            blocks.push(std::mem::take(&mut block));
            settled = if all_seen { Some(blocks.len() - 1) } else { settled };
            cuts.extend((all_seen && message.seq.is_multiple_of(PART)).then_some(blocks.len()));
        }
        all_seen &= is_seen(message, me, cursor) && message.seq != trigger;
        block.push_str(lines);
    }
    blocks.push(block);
    Timeline { blocks, settled, cuts }
}

/// Writes the summary if it covers messages before the window.
pub(crate) fn summary_before(place: &SpaceContext, first: u64) -> Option<String> {
    place.summary.as_ref().filter(|summary| summary.from < first).map(summary)
}

/// Writes the summary of older messages.
pub(crate) fn summary(summary: &SummaryRecord) -> String {
    format!(
        "EARLIER (messages {} to {}): {}\n",
        Thousands(summary.from),
        Thousands(summary.to),
        Quoted(&summary.text)
    )
}

/// Writes the title of the history.
pub(crate) fn heading(place: &SpaceContext) -> String {
    format!("SPACE HISTORY ({}, id: {}):\n", Quoted(&place.space.settings.name), place.space.id)
}

/// Writes how many messages precede the window, and how many of them are new. `new` is the word for
/// these. Messages that are counted here count as read in later prompts.
pub(crate) fn earlier(first: u64, cursor: u64, new: &str) -> String {
    if first <= 1 {
        return String::new();
    }
    let count = (first - 1).saturating_sub(cursor);
    let new =
        if count > 0 { format!(", {} of them {new}", Thousands(count)) } else { String::new() };
    format!(
        "  … {} earlier messages{new}; read_messages({{\"before\":{first}}}) shows them\n",
        Thousands(first - 1)
    )
}

/// Whether an agent has seen a message: it is its own, or an earlier run has read it.
pub(crate) fn is_seen(message: &MessageRecord, me: EntityId, cursor: u64) -> bool {
    message.sender.id == me || message.seq <= cursor
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

/// Writes the text of a message, or the call and the outcome of a card.
pub(crate) fn content(message: &MessageRecord) -> String {
    let Some(card) = &message.card else {
        return CutText { text: &message.text, more: message.more_chars }.to_string();
    };
    let output = card
        .output
        .as_ref()
        .map_or_else(String::new, |output| format!(" output={}", CardJson(output)));
    format!(
        "[tool {}] input={}{output} ({})",
        Name(&card.name),
        CardJson(&card.input),
        card.status.as_str()
    )
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
