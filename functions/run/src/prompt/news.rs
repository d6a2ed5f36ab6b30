//! Writes the news: messages that arrived in the active space while the run was at work.

use std::fmt::Write;

use smartspace_domain::ids::{RunId, SpaceId};
use smartspace_store::{messages::MessageRecord, spaces::rosters::MemberRecord};

use crate::prompt::{
    quoted::{Quoted, Thousands},
    timeline::entry,
};

/// The longest news, in characters.
const MAX_CHARS: usize = 20_000;

/// The messages since the run last read the space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Timeline lines. `None` if there are no messages of others.
    pub(crate) text: Option<String>,
    /// The last message of the space. All earlier ones were shown or counted, or are the run's own.
    pub(crate) last: Option<u64>,
}

/// Writes the news of the space `name` for a run that has read up to `after`. `messages` are the
/// last ones of the space.
pub(crate) fn news(
    name: &str,
    space: SpaceId,
    member: &MemberRecord,
    run: RunId,
    after: u64,
    messages: &[MessageRecord],
) -> News {
    let Some(last) = messages.last().map(|message| message.seq).filter(|last| *last > after) else {
        return News::default();
    };
    // As many of the newest ones as fit, but at least one.
    let mut lines = Vec::new();
    let mut chars = 0;
    let mut first = last + 1;
    for message in messages.iter().rev().take_while(|message| message.seq > after) {
        let line = if message.run_id == Some(run) {
            String::new()
        } else {
            entry(message, member.entity_id, member.cursor, 0)
        };
        chars += line.chars().count();
        if chars > MAX_CHARS && lines.iter().any(|line: &String| !line.is_empty()) {
            break;
        }
        first = message.seq;
        lines.push(line);
    }
    let mut text = String::new();
    let earlier = first - after - 1;
    if earlier > 0 {
        let new = (first - 1).saturating_sub(member.cursor.max(after));
        let new =
            if new > 0 { format!(", {} of them [NEW]", Thousands(new)) } else { String::new() };
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "  … {} earlier messages{new}; \
                read_messages({{\"spaceId\":\"{space}\",\"before\":{first}}}) shows them",
            Thousands(earlier)
        );
    }
    text.extend(lines.into_iter().rev());
    let text = (!text.is_empty()).then(|| {
        format!(
            "Said in {} (id: {space}) since your last step; what wakes you has a run of its \
                own:\n{}",
            Quoted(name),
            text.trim_end_matches('\n')
        )
    });
    News { text, last: Some(last) }
}
