//! Writes `EARLIER` and `SPACE HISTORY`: the summary of older messages, and the messages of the
//! window, marked as seen or new.

use smartspace_store::spaces::summaries::SummaryRecord;

use crate::prompt::{
    format::{Quoted, Thousands},
    lines::{Lines, day, heading},
    pinned::write_pinned,
    placed::Placed,
    reading::SpaceContext,
    window::Window,
};

/// Messages in a content block. A block ends before a multiple of this number, so that it is the
/// same in every prompt.
const BLOCK_MESSAGES: u64 = 5;
/// Messages in a part that is stored once for many prompts. A window of the usual size moves by the
/// same number, so parts stay the same until it moves.
const PART_MESSAGES: u64 = 25;

/// The most messages that a summary names that were edited since.
const EDITED_SHOWN: usize = 20;

/// The history as content blocks.
pub(crate) struct Timeline {
    /// Oldest first.
    pub(crate) blocks: Vec<Placed>,
    /// The last block that later prompts repeat unchanged: it is full and has no new message.
    pub(crate) settled: Option<usize>,
    /// The indexes of the blocks before which a shared part ends.
    pub(crate) cuts: Vec<usize>,
}

/// Writes the timeline of the space that triggered the run.
pub(crate) fn write_timeline(
    trigger_space: &SpaceContext,
    window: &Window<'_>,
    lines: &Lines<'_>,
) -> Timeline {
    let first = window.first_seq();
    let mut blocks = write_before(trigger_space, first, lines);
    let mut block = Placed::plain(heading(trigger_space));
    block.push_str(&lines.earlier(first));
    let mut settled = None;
    let mut cuts = Vec::new();
    let mut all_seen = true;
    let mut before = None;
    for (message, written) in window.messages.iter().zip(&window.lines) {
        if message.seq.is_multiple_of(BLOCK_MESSAGES) && message.seq != first {
            blocks.push(std::mem::take(&mut block));
            settled = if all_seen { Some(blocks.len() - 1) } else { settled };
            cuts.extend(
                (all_seen && message.seq.is_multiple_of(PART_MESSAGES)).then_some(blocks.len()),
            );
        }
        all_seen &= lines.is_seen(message);
        block.push_str(&day(before, message.created_at));
        before = Some(message.created_at);
        block.append(written);
    }
    blocks.push(block);
    Timeline { blocks, settled, cuts }
}

/// Writes the blocks that stand before the history: what is pinned, and the summary.
pub(crate) fn write_before(
    trigger_space: &SpaceContext,
    first: u64,
    lines: &Lines<'_>,
) -> Vec<Placed> {
    let pinned = write_pinned(trigger_space, lines);
    let pinned = (pinned.len() > 0).then_some(pinned);
    pinned.into_iter().chain(write_summary_before(trigger_space, first, lines)).collect()
}

/// Writes the summary if it covers messages before the window.
fn write_summary_before(
    trigger_space: &SpaceContext,
    first: u64,
    lines: &Lines<'_>,
) -> Option<Placed> {
    let summary = trigger_space.summary.as_ref().filter(|summary| summary.from < first)?;
    let text = Placed::plain(write_summary(summary, lines.searches));
    Some(text.covering(trigger_space.space.id, summary.from, summary.to))
}

/// Writes the summary of older messages. `searches` says that its reader can search them.
pub(crate) fn write_summary(summary: &SummaryRecord, searches: bool) -> String {
    let searches = if searches { "; search_messages finds words in them" } else { "" };
    format!(
        "EARLIER (messages {} to {}{}{searches}): {}\n",
        Thousands(summary.from),
        Thousands(summary.to),
        edited_since(&summary.edited),
        Quoted(&summary.text)
    )
}

/// Writes which messages were edited since the summary was written.
fn edited_since(edited: &[u64]) -> String {
    if edited.is_empty() {
        return String::new();
    }
    let first: Vec<_> = edited.iter().take(EDITED_SHOWN).map(|seq| format!("#{seq}")).collect();
    let more = match edited.len().saturating_sub(EDITED_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(", edited since: {}{more}", first.join(", "))
}
