//! The history of a space, as `enter_space` and `read_messages` show it: lines as in the prompt.

use smartspace_domain::{Result, ids::SpaceId, messages::Sender};
use smartspace_store::{messages::MessageRecord, spaces::rosters::MemberRecord};

use crate::{
    prompt::{lines::Lines, names::Names, why::causes},
    run_context::RunContext,
    tools::calling::Calling,
};

/// The names in a history: those of the run's prompt, and those of members and senders. Also reads
/// the messages of other spaces that its lines repeat.
pub(crate) async fn names_with<'a>(
    calling: &Calling<'_>,
    space: SpaceId,
    members: impl IntoIterator<Item = &'a Sender>,
    messages: &'a [MessageRecord],
) -> Result<Names> {
    let mut names = calling.names.clone();
    names.add(members);
    names.add(messages.iter().map(|message| &message.sender));
    let elsewhere = causes(space, calling.context.run.agent_id, messages);
    names.add_texts(calling.context.store().runs().texts_of(elsewhere).await?);
    Ok(names)
}

/// How the messages of a space are written, with the marks of the run's prompt.
pub(crate) fn lines_of<'a>(
    calling: &Calling<'a>,
    names: &'a Names,
    space: SpaceId,
    member: &MemberRecord,
) -> Lines<'a> {
    let RunContext { run, searches, .. } = calling.context;
    let triggered_by = run.place().filter(|message| message.space_id == space);
    let trigger = triggered_by.map_or(0, |message| message.seq);
    let joined = if triggered_by.is_some() { run.joined.as_slice() } else { &[] };
    Lines { trigger, joined, searches: *searches, ..Lines::of(names, space, member) }
}
