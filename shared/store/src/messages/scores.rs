//! The scores of agents for a stored message, from the message and the last ones before it.

use smartspace_domain::{
    gate::{self, Line, Member, Score, Talk},
    ids::{EntityId, SpaceId},
    mentions,
    triggers::Trigger,
};

use crate::{
    Messages, Result,
    messages::{MessageRecord, Range},
    spaces::rosters::{MemberRecord, Roster},
};

impl Messages<'_> {
    /// The scores of `agents` for a message, in the order in which they joined. Reads the messages
    /// before it.
    pub(crate) async fn scores(
        self,
        space: SpaceId,
        message: &MessageRecord,
        roster: &Roster,
        agents: &[EntityId],
    ) -> Result<Vec<Score>> {
        let before = self.records(space, Range::Before(message.seq), gate::WINDOW).await?;
        let mut members: Vec<_> = roster.members.iter().collect();
        members.sort_by_key(|member| (member.joined_at, member.entity_id));
        let lines: Vec<_> = before.iter().map(|record| line(record, &members)).collect();
        let message = line(message, &members);
        let by_join = members.iter().map(|member| member.entity_id);
        let agents: Vec<_> = by_join.filter(|id| agents.contains(id)).collect();
        let members: Vec<_> = members.iter().map(|member| of_member(member)).collect();
        let talk = Talk { before: &lines, message: &message, members: &members };
        Ok(gate::scores(&talk, &agents))
    }
}

fn of_member(member: &MemberRecord) -> Member<'_> {
    Member { id: member.entity_id, name: &member.name, description: member.about.as_deref() }
}

fn line<'a>(record: &'a MessageRecord, members: &[&MemberRecord]) -> Line<'a> {
    let found = mentions::find(&record.text, members.iter().map(|member| member.name.as_str()));
    let named = found.named.iter().filter_map(|index| Some(members.get(*index)?.entity_id));
    let trigger = record.origin.as_ref().map(|origin| &origin.trigger);
    let answers = match trigger {
        Some(Trigger::SpaceMessage { sender, .. }) => Some(sender.id),
        _ => None,
    };
    Line {
        seq: record.seq,
        at: record.created_at,
        sender: record.sender.id,
        text: &record.text,
        named: named.collect(),
        reply_to: None,
        answers,
        has_file: record.files.iter().any(|file| !file.part.deleted),
    }
}
