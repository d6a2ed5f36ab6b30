//! `EARLIER` and `SPACE HISTORY`: who said what, when, and what of it is new.

use std::fmt::Write;

use smartspace_domain::{ids::EntityId, messages::Origin, triggers::Trigger};
use smartspace_store::{messages::MessageRecord, summaries::SummaryRecord};

use super::{
    quoted::{CardJson, Cut, Name, Quoted, Thousands, kind},
    reading::Place,
    window::Window,
};

/// Messages in a content block. Blocks end before a multiple of it, so that they come out the same in every prompt.
const BLOCK: u64 = 5;
/// Messages in a part that is kept once for many prompts. A usual window moves by as many, so parts are the same until it does.
const PART: u64 = 25;

/// The history as content blocks.
pub(crate) struct Timeline {
    /// The blocks, oldest first.
    pub(crate) blocks: Vec<String>,
    /// The last block that comes again as it is: whole, and with nothing in it that is new.
    pub(crate) settled: Option<usize>,
    /// Before which blocks parts end that come again as they are.
    pub(crate) cuts: Vec<usize>,
}

/// Writes the timeline of the space that woke the run.
pub(crate) fn timeline(place: &Place, window: &Window<'_>, me: EntityId) -> Timeline {
    let (first, cursor, trigger) = (window.first(), place.member.cursor, place.trigger.seq);
    let mut blocks: Vec<String> = summary_before(place, first).into_iter().collect();
    let mut block = heading(place);
    block.push_str(&earlier(first, cursor, "[NEW]"));
    let (mut settled, mut all_seen, mut cuts) = (None, true, Vec::new());
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

/// The summary, where it says something of what stands before the window.
pub(crate) fn summary_before(place: &Place, first: u64) -> Option<String> {
    place.summary.as_ref().filter(|summary| summary.from < first).map(summary)
}

/// What the summary of older messages says.
pub(crate) fn summary(summary: &SummaryRecord) -> String {
    format!("EARLIER (messages {} to {}): {}\n", Thousands(summary.from), Thousands(summary.to), Quoted(&summary.text))
}

/// The name of the history.
pub(crate) fn heading(place: &Place) -> String {
    format!("SPACE HISTORY ({}, id: {}):\n", Quoted(&place.space.settings.name), place.space.id)
}

/// What stands before the window, and how much of it is `new`: counted is as good as read.
pub(crate) fn earlier(first: u64, cursor: u64, new: &str) -> String {
    if first <= 1 {
        return String::new();
    }
    let count = (first - 1).saturating_sub(cursor);
    let new = if count > 0 { format!(", {} of them {new}", Thousands(count)) } else { String::new() };
    format!("  … {} earlier messages{new}; read_messages({{\"before\":{first}}}) shows them\n", Thousands(first - 1))
}

/// Whether an agent has seen a message: its own, or one that a run before has read.
pub(crate) fn is_seen(message: &MessageRecord, me: EntityId, cursor: u64) -> bool {
    message.sender.id == me || message.seq <= cursor
}

/// The lines of one message: what was said, and of an own one why.
pub(crate) fn entry(message: &MessageRecord, me: EntityId, cursor: u64, trigger: u64) -> String {
    let mut lines = line(message, me, cursor, trigger);
    if let Some(origin) = message.origin.as_ref().filter(|_| message.sender.id == me) {
        // Writing to a String can't fail.
        let _ = writeln!(lines, "      {}", why(origin));
    }
    lines
}

/// What was said, without why: that may name another space.
pub(crate) fn line(message: &MessageRecord, me: EntityId, cursor: u64, trigger: u64) -> String {
    let mine = message.sender.id == me;
    let mark = if is_seen(message, me, cursor) { "[SEEN]" } else { "[NEW] " };
    let mut line = format!(
        "  {mark} [msg:{}] [{}] {} ({}, ",
        message.id,
        message.created_at.to_whole_seconds(),
        Name(&message.sender.name),
        kind(message.sender.kind)
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

/// What a message says; of a card, what was called and what came of it.
pub(crate) fn content(message: &MessageRecord) -> String {
    let Some(card) = &message.card else {
        return Cut { text: &message.text, more: message.more_chars }.to_string();
    };
    let output = card.output.as_ref().map_or_else(String::new, |output| format!(" output={}", CardJson(output)));
    format!("[tool {}] input={}{output} ({})", Name(&card.name), CardJson(&card.input), card.status.as_str())
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
