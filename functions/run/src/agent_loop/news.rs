//! News: messages that arrived in the active space while the run was at work. The model reads them
//! before its next step.

use std::fmt::Write;

use smartspace_domain::{
    Result,
    ids::{RunId, SpaceId},
};
use smartspace_store::{
    messages::{MessageRecord, Range},
    spaces::rosters::MemberRecord,
};

use crate::{
    prompt::{
        quoted::{Quoted, Thousands},
        timeline::entry,
    },
    run_context::RunContext,
};

/// How many messages are shown at most.
const MESSAGES: usize = 50;
/// How long they may be together, in characters.
const CHARS: usize = 20_000;

/// The messages since the run last looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Timeline lines. `None` if there are no messages of others.
    pub(crate) text: Option<String>,
    /// The last message of the space. All before it were shown or counted, or are the run's own.
    pub(crate) last: Option<u64>,
}

/// The messages of others in a space after the seq `after`.
/// Empty if the agent is no longer a member of the space.
pub(crate) async fn read_news(context: &RunContext, space: SpaceId, after: u64) -> Result<News> {
    let store = context.store();
    // Mostly there are none, and one small read shows it.
    if store.members().head(space).await?.is_none_or(|head| head.seq <= after) {
        return Ok(News::default());
    }
    let (place, mut messages) = futures::try_join!(
        store.members().membership(space, context.run.agent_id),
        store.messages().records(space, Range::After(after), MESSAGES)
    )?;
    let Some((record, member)) = place else { return Ok(News::default()) };
    if messages.len() == MESSAGES {
        // There may be more. Then the newest ones are shown.
        messages = store.messages().records(space, Range::Before(u64::MAX), MESSAGES).await?;
    }
    Ok(told(&record.settings.name, space, &member, context.run.id, after, &messages))
}

/// The news of a space that is called `name`, of its last `messages`, for a run that has read up to
/// `after`.
pub(crate) fn told(
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
    // The newest ones that fit, but at least one.
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
        let new =
            if new > 0 { format!(", {} of them [NEW]", Thousands(new)) } else { String::new() };
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
