//! A person's list of mentions, as far as it may still read the messages.

use std::collections::BTreeMap;

use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    ids::{EntityId, MessageId, SpaceId},
    limits::PAGE_BYTES,
    mentioned::Mentioned,
    messages::Message,
};
use smartspace_store::{
    messages::{MessageRecord, mentions::MentionRecord},
    table::pages::{Page, PageRequest, json_bytes},
};

use crate::{Pipeline, access::KnownSpaces};

impl Pipeline {
    /// A page of the messages that mention the caller or reply to it, newest first. Those that are
    /// deleted or have expired are left out, and so are those of spaces that it has left.
    pub async fn mentions(&self, caller: Caller, request: &PageRequest) -> Result<Page<Mentioned>> {
        let limit = request.limit()?;
        let before: Option<MessageId> =
            request.cursor.as_deref().map(str::parse).transpose().map_err(|_| {
                Error::Malformed("cursor: expected the nextCursor of an earlier page".into())
            })?;
        let Caller::Entity(reader) = caller else {
            return Ok(Page { items: Vec::new(), next_cursor: None });
        };
        let store = &self.store;
        let (entries, mut has_more) =
            store.mentions().list(reader, before, limit, self.now()).await?;
        let messages = self.mentioning(&entries).await?;
        // After the read: an entity that is removed meanwhile must not see newer messages.
        let names = self.names_of_read_spaces(caller, reader, &entries).await?;
        let mut known = KnownSpaces::of(caller);
        let mut items: Vec<Mentioned> = Vec::new();
        let mut bytes = 0;
        let mut last = None;
        for (entry, message) in entries.iter().zip(messages) {
            let shown = message.zip(names.get(&entry.space_id));
            if let Some((mut message, name)) = shown {
                for known_by in message.known_by() {
                    if !known.has(self, known_by).await? {
                        message = message.for_others_than(known_by);
                    }
                }
                let (space_id, why) = (entry.space_id, entry.why);
                let item = Mentioned { space_id, space_name: name.clone(), why, message };
                bytes += json_bytes(&item);
                if bytes > PAGE_BYTES && !items.is_empty() {
                    has_more = true;
                    break;
                }
                items.push(item);
            }
            last = Some(entry.message_id);
        }
        let next_cursor = last.filter(|_| has_more).map(|last| last.to_string());
        Ok(Page { items, next_cursor })
    }

    /// The message of each entry. `None` if it is deleted or has expired.
    async fn mentioning(&self, entries: &[MentionRecord]) -> Result<Vec<Option<Message>>> {
        let refs: Vec<_> = entries.iter().map(|entry| (entry.space_id, entry.seq)).collect();
        let records = self.store.messages().at(&refs).await?;
        let mut of_spaces: BTreeMap<SpaceId, Vec<MessageRecord>> = BTreeMap::new();
        for (entry, record) in entries.iter().zip(records) {
            if let Some(record) = record.filter(|record| record.deleted.is_none()) {
                of_spaces.entry(entry.space_id).or_default().push(record);
            }
        }
        let mut found = BTreeMap::new();
        for (space, records) in of_spaces {
            for message in self.store.messages().with_long_texts(space, records).await? {
                found.insert(message.id, message);
            }
        }
        Ok(entries.iter().map(|entry| found.remove(&entry.message_id)).collect())
    }

    /// The names of the entries' spaces that the caller may read.
    async fn names_of_read_spaces(
        &self,
        caller: Caller,
        reader: EntityId,
        entries: &[MentionRecord],
    ) -> Result<BTreeMap<SpaceId, String>> {
        let mut spaces: Vec<SpaceId> = entries.iter().map(|entry| entry.space_id).collect();
        spaces.sort_unstable();
        spaces.dedup();
        if spaces.is_empty() {
            return Ok(BTreeMap::new());
        }
        let found = self.store.inbox().spaces(&spaces, Some(reader)).await?;
        let may_read = |membership| caller.may_in_space(SpaceAction::Read, membership).is_ok();
        let read = found.into_iter().filter(|space| may_read(space.membership));
        Ok(read.map(|space| (space.id, space.name)).collect())
    }
}
