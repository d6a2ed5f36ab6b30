//! Reads the news: messages that arrived in the active space while the run was at work, and changes
//! of messages that it was shown. The model reads them before its next step.

use smartspace_domain::{
    Result,
    ids::SpaceId,
    messages::{Deleted, DeletedBy},
};
use smartspace_store::{
    messages::{MessageRecord, Range, changing::ChangeLog},
    spaces::rosters::Head,
};

use crate::{
    agent_loop::state::State,
    prompt::{
        lines::Lines,
        names::mentioned,
        news::{News, write_changes, write_news},
        why::causes,
    },
    run_context::RunContext,
};

/// The most messages that are shown.
const MAX_MESSAGES: usize = 50;

/// Reads the messages of others in the space that the run does not know yet, and the changes of
/// those that it was shown.
/// The news is empty if the agent is no longer a member of the space.
pub(crate) async fn read_news(
    context: &RunContext,
    space: SpaceId,
    state: &mut State,
) -> Result<News> {
    let after = state.marks.get(&space).copied().unwrap_or(u64::MAX);
    let known = state.known_changes_of(space);
    let store = context.store();
    // There is mostly nothing new, and one small read shows it.
    let Some(head) = store.members().head(space).await? else { return Ok(News::default()) };
    if head.seq <= after && head.changed <= known {
        return Ok(News::default());
    }
    let unknown = async {
        if head.seq <= after {
            return Ok(Vec::new());
        }
        store.messages().records(space, Range::After(after), MAX_MESSAGES).await
    };
    let (membership, mut messages, changes) = futures::try_join!(
        store.members().membership(space, context.run.agent_id),
        unknown,
        changes(context, state, space, &head)
    )?;
    let Some((record, _)) = membership else { return Ok(News::default()) };
    if messages.len() == MAX_MESSAGES {
        // There may be more, and the newest ones are shown.
        messages = store.messages().records(space, Range::Before(u64::MAX), MAX_MESSAGES).await?;
    }
    let (changes, changed) = changes;
    state.names.add(&mentioned(messages.iter().chain(&changes)).collect::<Vec<_>>());
    let elsewhere = causes(space, context.run.agent_id, messages.iter().chain(&changes));
    state.names.add_texts(store.runs().texts_of(elsewhere).await?);
    let lines = Lines {
        searches: context.searches,
        ..Lines::unmarked(&state.names, space, context.run.agent_id)
    };
    let name = &record.settings.name;
    let news = write_news(name, &lines, context.run.id, after, &messages);
    let mut text = news.text.unwrap_or_default();
    if let Some(changes) = write_changes(name, &lines, &changes) {
        text.push_str(if text.len() > 0 { "\n" } else { "" });
        text.append(&changes);
    }
    let text = (text.len() > 0).then_some(text);
    Ok(News { text, changed, last_seq: news.last_seq })
}

/// The messages that the run was shown and that have changed since, as they are now, and up to
/// which value of `HEAD.changed` that is so. Changes by the run itself are no news.
async fn changes(
    context: &RunContext,
    state: &State,
    space: SpaceId,
    head: &Head,
) -> Result<(Vec<MessageRecord>, Option<u64>)> {
    let known = state.known_changes_of(space);
    if head.changed <= known {
        return Ok((Vec::new(), None));
    }
    let store = context.store();
    let log: ChangeLog = store.messages().changes(space).await?;
    let newest = log.last.last().map_or(0, |change| change.at);
    let mut changed: Vec<MessageRecord> = match log.since(known) {
        Some(seqs) => {
            let wanted: Vec<_> = seqs.into_iter().map(|seq| (space, seq)).collect();
            Box::pin(store.messages().at(&wanted)).await?.into_iter().flatten().collect()
        }
        None => changed_since_begin(context, state, space).await?,
    };
    let own = state.own_edits();
    let is_own = |message: &MessageRecord| {
        own.contains(&message.seq)
            && message.deleted.is_none_or(|Deleted { by, .. }| by == DeletedBy::Sender)
    };
    changed
        .retain(|message: &MessageRecord| state.has_shown(space, message.seq) && !is_own(message));
    Ok((changed, Some(head.changed.max(newest))))
}

/// The last messages that have changed since the run began, if there were too many changes for the
/// log.
async fn changed_since_begin(
    context: &RunContext,
    state: &State,
    space: SpaceId,
) -> Result<Vec<MessageRecord>> {
    let end = state.marks.get(&space).map_or(u64::MAX, |read| read + 1);
    let range = Range::Before(end);
    let mut messages = context.store().messages().records(space, range, MAX_MESSAGES).await?;
    let since = context.run.created_at;
    messages.retain(|message| {
        let deleted = message.deleted.map(|deleted| deleted.at);
        message.edited_at.max(deleted).is_some_and(|at| at >= since)
    });
    Ok(messages)
}
