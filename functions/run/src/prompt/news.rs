//! Writes the news: messages that arrived in the active space while the run was at work, and
//! changes of messages that it was shown.

use smartspace_domain::ids::RunId;
use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    format::Quoted,
    lines::{Lines, day},
    placed::Placed,
};

/// The longest news, in characters.
const MAX_CHARS: usize = 20_000;

/// The messages since the run last read the space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Timeline lines. `None` if there are no messages of others.
    pub(crate) text: Option<Placed>,
    /// The last message of the space. All earlier ones were shown or counted, or are the run's own.
    pub(crate) last_seq: Option<u64>,
    /// Up to which value of `HEAD.changed` the run now knows the changes of the space. `None` if it
    /// has not moved.
    pub(crate) changed: Option<u64>,
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
    let mut shown: Vec<(&MessageRecord, Placed)> = Vec::new();
    let mut chars = 0;
    let mut first = last + 1;
    for message in messages.iter().rev().take_while(|message| message.seq > after) {
        let is_own = message.run_id == Some(run);
        let line = if is_own { Placed::default() } else { lines.entry(message) };
        chars += line.text.chars().count();
        if chars > MAX_CHARS && shown.iter().any(|(_, line)| line.len() > 0) {
            break;
        }
        first = message.seq;
        shown.push((message, line));
    }
    let mut list = Placed::default();
    let earlier = first - after - 1;
    if earlier > 0 {
        list.push_str(&lines.earlier_messages(earlier, 0, first));
        list.push_str("\n");
    }
    let mut before = None;
    for (message, line) in shown.iter().rev().filter(|(_, line)| line.len() > 0) {
        list.push_str(&day(before, message.created_at));
        before = Some(message.created_at);
        list.append(line);
    }
    let text = (list.len() > 0).then(|| {
        let mut text = Placed::plain(format!(
            "Posted in {} ({}) since your last step. If one of these is for you, another run of \
             yours answers it:\n",
            Quoted(name),
            lines.space,
        ));
        text.append(&list);
        text.trimmed_end()
    });
    News { text, last_seq: Some(last), changed: None }
}

/// Writes the messages of the space `name` that were edited or deleted after the run was shown
/// them. `None` if there are none.
pub(crate) fn write_changes(
    name: &str,
    lines: &Lines<'_>,
    messages: &[MessageRecord],
) -> Option<Placed> {
    if messages.is_empty() {
        return None;
    }
    let mut text = Placed::plain(format!(
        "Edited or deleted in {} ({}) since you read it:\n",
        Quoted(name),
        lines.space,
    ));
    let mut before = None;
    for message in messages {
        text.push_str(&day(before, message.created_at));
        before = Some(message.created_at);
        text.append(&lines.entry(message));
    }
    Some(text.trimmed_end())
}
