//! Writes the news: messages that arrived in the active space while the run was at work.

use std::fmt::Write;

use smartspace_domain::ids::RunId;
use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    format::Quoted,
    lines::{Lines, day, earlier_messages},
};

/// The longest news, in characters.
const MAX_CHARS: usize = 20_000;

/// The messages since the run last read the space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Timeline lines. `None` if there are no messages of others.
    pub(crate) text: Option<String>,
    /// The last message of the space. All earlier ones were shown or counted, or are the run's own.
    pub(crate) last_seq: Option<u64>,
}

/// Writes the news of the space `name` for a run that has read up to `after`. `messages` are the
/// last ones of the space.
pub(crate) fn write_news(
    name: &str,
    lines: &Lines<'_>,
    run: RunId,
    after: u64,
    messages: &[MessageRecord],
) -> News {
    let Some(last) = messages.last().map(|message| message.seq).filter(|last| *last > after) else {
        return News::default();
    };
    // As many of the newest ones as fit, but at least one.
    let mut shown: Vec<(&MessageRecord, String)> = Vec::new();
    let mut chars = 0;
    let mut first = last + 1;
    for message in messages.iter().rev().take_while(|message| message.seq > after) {
        let line = if message.run_id == Some(run) { String::new() } else { lines.entry(message) };
        chars += line.chars().count();
        if chars > MAX_CHARS && shown.iter().any(|(_, line)| !line.is_empty()) {
            break;
        }
        first = message.seq;
        shown.push((message, line));
    }
    let mut text = String::new();
    let earlier = first - after - 1;
    if earlier > 0 {
        let new = (first - 1).saturating_sub(lines.cursor.max(after));
        // Writing to a String can't fail.
        let _ = writeln!(text, "{}", earlier_messages(earlier, new, first));
    }
    let mut before = None;
    for (message, line) in shown.iter().rev().filter(|(_, line)| !line.is_empty()) {
        text.push_str(&day(before, message.created_at));
        before = Some(message.created_at);
        text.push_str(line);
    }
    let text = (!text.is_empty()).then(|| {
        format!(
            "Said in {} ({}) since your last step; what wakes you has a run of its own:\n{}",
            Quoted(name),
            lines.space,
            text.trim_end_matches('\n')
        )
    });
    News { text, last_seq: Some(last) }
}
