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
/// last ones of the space. The `lines` are unmarked: all of them are new to the run, and another
/// run of the agent may have read them.
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
        // Writing to a String can't fail.
        let _ = writeln!(text, "{}", earlier_messages(earlier, 0, first));
    }
    let mut before = None;
    for (message, line) in shown.iter().rev().filter(|(_, line)| !line.is_empty()) {
        text.push_str(&day(before, message.created_at));
        before = Some(message.created_at);
        text.push_str(line);
    }
    let text = (!text.is_empty()).then(|| {
        format!(
            "Posted in {} ({}) since your last step. If one of these is for you, another run of \
             yours answers it:\n{}",
            Quoted(name),
            lines.space,
            text.trim_end_matches('\n')
        )
    });
    News { text, last_seq: Some(last) }
}
