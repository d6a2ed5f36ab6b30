//! The history of a space, as `enter_space` and `read_messages` show it: lines as in the prompt.

use smartspace_domain::{ids::SpaceId, messages::Sender};
use smartspace_store::{messages::MessageRecord, spaces::rosters::MemberRecord};

use crate::{
    prompt::{lines::Lines, names::Names},
    tools::calling::Calling,
};

/// The names in a history: those of the run's prompt, and those of members and senders.
pub(crate) fn names_with<'a>(
    calling: &Calling<'_>,
    members: impl IntoIterator<Item = &'a Sender>,
    messages: &'a [MessageRecord],
) -> Names {
    let mut names = calling.names.clone();
    names.add(members);
    names.add(messages.iter().map(|message| &message.sender));
    names
}

/// How the messages of a space are written, with the marks of the run's prompt.
pub(crate) fn lines_of<'a>(
    calling: &Calling<'a>,
    names: &'a Names,
    space: SpaceId,
    member: &MemberRecord,
) -> Lines<'a> {
    let run = &calling.context.run;
    let triggered_by = run.place().filter(|message| message.space_id == space);
    let trigger = triggered_by.map_or(0, |message| message.seq);
    let joined = if triggered_by.is_some() { run.joined.as_slice() } else { &[] };
    Lines { trigger, joined, ..Lines::of(names, space, member) }
}
