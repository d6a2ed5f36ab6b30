//! A page of hits: reads their messages and neighbours in one batch, matches each hit again with
//! the text of the moment, and leaves out what the caller may no longer read.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Result, Time,
    access::{Caller, SpaceAction},
    found::{FoundMessage, Neighbour},
    ids::SpaceId,
    messages::{Message, Part, excerpt},
    search::{Entry, Excerpt, Joined, Query},
};
use smartspace_store::messages::MessageRecord;

use crate::Pipeline;

/// How many messages are shown before and after a hit. A hit and its neighbours are five messages,
/// so the 20 hits of a page are one batch of 100.
const NEIGHBOURS: u64 = 2;
/// How much of a neighbour is shown, in characters.
const NEIGHBOUR_CHARS: usize = 200;

/// The messages of a page. Deleted ones are left out.
struct PageMessages {
    messages: BTreeMap<(SpaceId, u64), Message>,
}

impl Pipeline {
    /// The items of these hits, in their order, and of how many hits they are: after `until` no
    /// further one is looked at, and between two of them it gives way to other tasks. A message
    /// that was edited or deleted since its words were read is left out, unless the query still
    /// finds it. The names of spaces are empty.
    pub(super) async fn found_messages(
        &self,
        hits: &[Joined],
        query: &Query,
        until: Time,
    ) -> Result<(Vec<FoundMessage>, usize)> {
        let page = self.page_messages(hits).await?;
        let mut items = Vec::with_capacity(hits.len());
        for (index, joined) in hits.iter().enumerate() {
            if index > 0 && self.now() >= until {
                return Ok((items, index));
            }
            tokio::task::yield_now().await;
            items.extend(page.item(joined, query));
        }
        Ok((items, hits.len()))
    }

    async fn page_messages(&self, hits: &[Joined]) -> Result<PageMessages> {
        let refs: BTreeSet<_> = hits
            .iter()
            .flat_map(|Joined { hit, .. }| {
                let first = hit.seq.saturating_sub(NEIGHBOURS).max(1);
                (first..=hit.seq + NEIGHBOURS).map(move |seq| (hit.space, seq))
            })
            .collect();
        let refs: Vec<_> = refs.into_iter().collect();
        let records = self.store.messages().at(&refs).await?;
        let matched: BTreeSet<_> = hits.iter().flat_map(numbers_of_hit).collect();
        let mut messages = BTreeMap::new();
        let mut long: BTreeMap<SpaceId, Vec<MessageRecord>> = BTreeMap::new();
        for ((space, seq), record) in refs.into_iter().zip(records) {
            let Some(record) = record.filter(|record| record.deleted.is_none()) else { continue };
            let message = record.in_short(space);
            // Neighbours show less than the item of a long text has.
            if message.truncated && matched.contains(&(space, seq)) {
                long.entry(space).or_default().push(record);
            }
            messages.insert((space, seq), message);
        }
        for (space, records) in long {
            for message in self.store.messages().with_long_texts(space, records).await? {
                messages.insert((space, message.seq), message);
            }
        }
        Ok(PageMessages { messages })
    }

    /// The names of those spaces that the caller may read now.
    pub(super) async fn readable_spaces(
        &self,
        caller: Caller,
        spaces: &[SpaceId],
    ) -> Result<BTreeMap<SpaceId, String>> {
        if spaces.is_empty() {
            return Ok(BTreeMap::new());
        }
        let found = self.store.inbox().spaces(spaces, caller.entity()).await?;
        let may_read = |membership| caller.may_in_space(SpaceAction::Read, membership).is_ok();
        let read = found.into_iter().filter(|space| may_read(space.membership));
        Ok(read.map(|space| (space.id, space.name)).collect())
    }
}

impl PageMessages {
    /// The item of a hit. `None` if the query finds neither it nor one that is joined to it.
    fn item(&self, joined: &Joined, query: &Query) -> Option<FoundMessage> {
        let mut found = numbers_of_hit(joined).into_iter().filter_map(|key| {
            let message = self.messages.get(&key)?;
            Entry::of(message).filter(|entry| query.is_hit(entry)).map(|entry| (message, entry))
        });
        // The best one comes first. If it is gone, one next to it takes its place.
        let (message, entry) = found.next()?;
        let mut also_seqs: Vec<_> = found.map(|(message, _)| message.seq).collect();
        also_seqs.sort_unstable();
        let Excerpt { text, matches } = Excerpt::of(&entry, query);
        let Message { space_id, seq, .. } = *message;
        Some(FoundMessage {
            space_id,
            space_name: String::new(),
            message_id: message.id,
            seq,
            at: message.created_at,
            sender: message.sender.clone(),
            excerpt: text,
            matches,
            files: files_of(message),
            score: joined.hit.score,
            also_seqs,
            before: self.neighbours(space_id, seq.saturating_sub(NEIGHBOURS).max(1), seq),
            after: self.neighbours(space_id, seq + 1, seq + 1 + NEIGHBOURS),
        })
    }

    /// The messages from the number `first` on and below `end`.
    fn neighbours(&self, space: SpaceId, first: u64, end: u64) -> Vec<Neighbour> {
        let messages = self.messages.range((space, first)..(space, end));
        messages.map(|(_, message)| neighbour(message)).collect()
    }
}

/// The numbers of a hit and of those that are joined to it, the best one first.
fn numbers_of_hit(joined: &Joined) -> Vec<(SpaceId, u64)> {
    let Joined { hit, also } = joined;
    let numbers = std::iter::once(hit.seq).chain(also.iter().copied());
    numbers.map(|seq| (hit.space, seq)).collect()
}

fn neighbour(message: &Message) -> Neighbour {
    let text = message.text();
    let text = match text {
        "" => files_of(message).join(", "),
        text => excerpt(text, NEIGHBOUR_CHARS).0.to_owned(),
    };
    Neighbour {
        message_id: message.id,
        seq: message.seq,
        at: message.created_at,
        sender: message.sender.clone(),
        text,
    }
}

/// The names of a message's files, without deleted ones.
fn files_of(message: &Message) -> Vec<String> {
    let files = message.parts.iter().filter_map(|part| match part {
        Part::File(file) if !file.deleted => Some(file.name.clone()),
        Part::File(_) | Part::Text { .. } | Part::Tool(_) => None,
    });
    files.collect()
}
