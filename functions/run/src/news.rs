//! What was said in the active space while a run was at work: its model reads it before its next step.

use std::fmt::Write;

use smartspace_domain::{
    Result,
    ids::{RunId, SpaceId},
};
use smartspace_store::{
    messages::{MessageRecord, Range},
    rosters::MemberRecord,
};

use crate::{
    context::{
        quoted::{Quoted, Thousands},
        timeline::entry,
    },
    worker::Worker,
};

/// Messages that are shown at most.
const MESSAGES: usize = 50;
/// What they take at most, in characters.
const CHARS: usize = 20_000;

/// What came since a run last looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// As timeline lines; none where nobody else said anything.
    pub(crate) text: Option<String>,
    /// The space's last message: all before it was shown, or counted, or is the run's own.
    pub(crate) last: Option<u64>,
}

impl Worker {
    /// What others said in a space behind number `after`. Nothing where the agent is not a member of it any more.
    pub(crate) async fn news(&self, space: SpaceId, after: u64) -> Result<News> {
        let store = &self.pipeline.store;
        // Mostly there is none, and one small read says so.
        if store.head(space).await?.is_none_or(|head| head.seq <= after) {
            return Ok(News::default());
        }
        let (place, mut messages) =
            futures::try_join!(store.place_of(space, self.run.agent_id), store.message_records(space, Range::After(after), MESSAGES))?;
        let Some((record, member)) = place else { return Ok(News::default()) };
        if messages.len() == MESSAGES {
            // Perhaps not all of it: the newest count.
            messages = store.message_records(space, Range::Before(u64::MAX), MESSAGES).await?;
        }
        Ok(told(&record.settings.name, space, &member, self.run.id, after, &messages))
    }
}

/// The news of a space that is called `name`, of its last `messages`, for a run that has read up to `after`.
pub(crate) fn told(name: &str, space: SpaceId, member: &MemberRecord, run: RunId, after: u64, messages: &[MessageRecord]) -> News {
    let Some(last) = messages.last().map(|message| message.seq).filter(|last| *last > after) else { return News::default() };
    // The newest that there is room for, but at least one.
    let (mut lines, mut chars, mut first) = (Vec::new(), 0, last + 1);
    for message in messages.iter().rev().take_while(|message| message.seq > after) {
        let line = if message.run_id == Some(run) { String::new() } else { entry(message, member.entity_id, member.cursor, 0) };
        chars += line.chars().count();
        if chars > CHARS && lines.iter().any(|line: &String| !line.is_empty()) {
            break;
        }
        first = message.seq;
        lines.push(line);
    }
    let mut text = String::new();
    let earlier = first - after - 1;
    if earlier > 0 {
        let new = (first - 1).saturating_sub(member.cursor.max(after));
        let new = if new > 0 { format!(", {} of them [NEW]", Thousands(new)) } else { String::new() };
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "  … {} earlier messages{new}; read_messages({{\"spaceId\":\"{space}\",\"before\":{first}}}) shows them",
            Thousands(earlier)
        );
    }
    text.extend(lines.into_iter().rev());
    let text = (!text.is_empty()).then(|| {
        format!(
            "Said in {} (id: {space}) since your last step; what wakes you has a run of its own:\n{}",
            Quoted(name),
            text.trim_end_matches('\n')
        )
    });
    News { text, last: Some(last) }
}
