//! The lists of mentions: for each person the messages that name it or reply to it. The
//! transaction that stores a message adds it to them; an entry expires after 90 days.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, MessageId, SpaceId},
    limits::MENTION_STORED_FOR,
    mentions::{MentionWhy, people},
};

use crate::{
    Mentions, Result,
    shared::message::MessageRecord,
    spaces::rosters::Roster,
    table::{Query, keys, read, write::Write},
};

/// An entry of a person's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MentionRecord {
    pub message_id: MessageId,
    pub space_id: SpaceId,
    /// The number of the message.
    pub seq: u64,
    pub why: MentionWhy,
    /// When the table may delete it, in seconds.
    expires_at: i64,
}

/// The writes that add a new message to the lists of the people for whom it is.
pub(crate) fn mention_writes(
    space: SpaceId,
    message: &MessageRecord,
    roster: &Roster,
) -> Result<Vec<Write>> {
    let reply_to = message.reply_to.and_then(|parent| parent.sender_id);
    let is_person = |id| roster.is_person(id);
    let people = people(&message.mentions, reply_to, message.sender.id, is_person);
    let entry = |(person, why)| {
        let record = MentionRecord {
            message_id: message.id,
            space_id: space,
            seq: message.seq,
            why,
            expires_at: (message.created_at + MENTION_STORED_FOR).as_seconds(),
        };
        Write::put(keys::mention(person, message.id), &record)
    };
    people.into_iter().map(entry).collect()
}

impl Mentions<'_> {
    /// Up to `limit` entries of a person's list before the one of a message, newest first, and
    /// whether there are more.
    pub async fn list(
        self,
        person: EntityId,
        before: Option<MessageId>,
        limit: usize,
        now: Time,
    ) -> Result<(Vec<MentionRecord>, bool)> {
        // The one before which the page begins, and one more to know whether there are others.
        let extra = 1 + usize::from(before.is_some());
        let query = Query::of(keys::mentions(person)).newest_first().limit(limit + extra);
        let query = match before {
            Some(before) => query.between("!", &before.to_string()),
            None => query,
        };
        let items = self.store.table.all(query).await?;
        let records = items.into_iter().map(read).collect::<Result<Vec<MentionRecord>>>()?;
        let is_listed = |record: &MentionRecord| {
            Some(record.message_id) != before && record.expires_at > now.as_seconds()
        };
        let mut records: Vec<_> = records.into_iter().filter(is_listed).collect();
        let has_more = records.len() > limit;
        records.truncate(limit);
        Ok((records, has_more))
    }
}
