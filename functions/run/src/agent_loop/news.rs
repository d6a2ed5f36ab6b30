//! Reads the news: messages that arrived in the active space while the run was at work. The model
//! reads them before its next step.

use smartspace_domain::{Result, ids::SpaceId};
use smartspace_store::messages::Range;

use crate::{
    prompt::{
        lines::Lines,
        names::{Names, mentioned},
        news::{News, write_news},
    },
    run_context::RunContext,
};

/// The most messages that are shown.
const MAX_MESSAGES: usize = 50;

/// Reads the messages of others in a space after the seq `after`.
/// The news is empty if the agent is no longer a member of the space.
pub(crate) async fn read_news(
    context: &RunContext,
    space: SpaceId,
    after: u64,
    names: &mut Names,
) -> Result<News> {
    let store = context.store();
    // There is mostly no new message, and one small read shows it.
    if store.members().head(space).await?.is_none_or(|head| head.seq <= after) {
        return Ok(News::default());
    }
    let (membership, mut messages) = futures::try_join!(
        store.members().membership(space, context.run.agent_id),
        store.messages().records(space, Range::After(after), MAX_MESSAGES)
    )?;
    let Some((record, _)) = membership else { return Ok(News::default()) };
    if messages.len() == MAX_MESSAGES {
        // There may be more, and the newest ones are shown.
        messages = store.messages().records(space, Range::Before(u64::MAX), MAX_MESSAGES).await?;
    }
    names.add(&mentioned(messages.iter()).collect::<Vec<_>>());
    let lines = Lines::unmarked(names, space, context.run.agent_id);
    Ok(write_news(&record.settings.name, &lines, context.run.id, after, &messages))
}
