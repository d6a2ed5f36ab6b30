//! The inbox: the cards that wait for a caller, of all of its spaces, soonest expiry first.
//!
//! The index of open cards finds candidates. The message of a card decides whether it still waits,
//! and the caller's item in the space whether it is a member.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Result, Time,
    access::{Caller, Membership},
    forms::first_text,
    ids::{EntityId, SpaceId},
    inbox::{InboxAgent, InboxItem, InboxKind, PAGE_CARDS, QUESTION_CHARS},
    messages::excerpt,
};
use smartspace_store::{
    inbox::{self, InboxSpace, OpenEntries, OpenEntry},
    messages::{Asks, MessageRecord},
    table::pages::Page,
};

use crate::Pipeline;

/// How often a page reads entries of the index. Each round reads up to 100 of each partition.
const ROUNDS: usize = 10;
/// How many cards a page looks at. More are on the next page, even if this one is empty.
const LOOKED_AT: usize = 1_000;

/// The cards that an inbox may show.
struct Reader {
    caller: Caller,
    kind: Option<InboxKind>,
    /// Candidates for the caller's spaces. `None` for the operator, who sees all.
    spaces: Option<BTreeSet<SpaceId>>,
    /// Spaces of cards that were found. `None` if the space is deleted.
    known: BTreeMap<SpaceId, Option<InboxSpace>>,
}

impl Pipeline {
    /// A page of the cards that a caller may answer or decide.
    pub async fn inbox(
        &self,
        caller: Caller,
        kind: Option<InboxKind>,
        cursor: Option<String>,
    ) -> Result<Page<InboxItem>> {
        let now = self.now();
        let mut after = inbox::start(cursor.as_deref(), now)?;
        let mut reader = self.inbox_reader(caller, kind).await?;
        let parts = reader.parts();
        let mut found = Found::default();
        for _ in 0..ROUNDS {
            let OpenEntries { entries, rest } = self.store.inbox().entries(&parts, &after).await?;
            let entries: Vec<_> =
                entries.into_iter().filter(|entry| reader.may_know(entry.space)).collect();
            for some in entries.chunks(PAGE_CARDS) {
                let items = self.inbox_items(&mut reader, some, now).await?;
                if let Some(page) = found.add(some, items) {
                    return Ok(page);
                }
            }
            match rest {
                Some(rest) => after = rest,
                None => return Ok(found.page(None)),
            }
        }
        Ok(found.page(Some(&after)))
    }

    async fn inbox_reader(&self, caller: Caller, kind: Option<InboxKind>) -> Result<Reader> {
        let spaces = match caller {
            Caller::Operator => None,
            Caller::Entity(entity) => {
                Some(self.store.entities().spaces_of(entity).await?.into_iter().collect())
            }
        };
        Ok(Reader { caller, kind, spaces, known: BTreeMap::new() })
    }

    /// The cards of these entries that wait for the reader.
    async fn inbox_items(
        &self,
        reader: &mut Reader,
        entries: &[OpenEntry],
        now: Time,
    ) -> Result<Vec<Option<InboxItem>>> {
        let missing: BTreeSet<_> = entries
            .iter()
            .map(|entry| entry.space)
            .filter(|space| !reader.known.contains_key(space))
            .collect();
        let missing: Vec<_> = missing.into_iter().collect();
        let refs: Vec<_> = entries.iter().map(|entry| (entry.space, entry.seq)).collect();
        let (spaces, records) = futures::try_join!(
            self.store.inbox().spaces(&missing, reader.entity()),
            self.store.messages().at(&refs),
        )?;
        reader.known.extend(missing.into_iter().map(|space| (space, None)));
        reader.known.extend(spaces.into_iter().map(|space| (space.id, Some(space))));
        let found = entries.iter().zip(records).map(|(entry, record)| {
            let space = reader.known.get(&entry.space)?.as_ref()?;
            reader.item(space, record?, now)
        });
        Ok(found.collect())
    }
}

/// The cards of a page, as far as it is read.
#[derive(Default)]
struct Found {
    items: Vec<InboxItem>,
    /// The position of the last card.
    last: String,
    looked_at: usize,
}

impl Found {
    /// Adds the cards of these entries. Returns the page once it ends among them: there is another
    /// card, or the page has looked at enough of them.
    fn add(
        &mut self,
        entries: &[OpenEntry],
        items: Vec<Option<InboxItem>>,
    ) -> Option<Page<InboxItem>> {
        for (entry, item) in entries.iter().zip(items) {
            let Some(item) = item else { continue };
            if self.items.len() == PAGE_CARDS {
                let last = std::mem::take(&mut self.last);
                return Some(self.page(Some(&last)));
            }
            self.items.push(item);
            self.last.clone_from(&entry.position);
        }
        self.looked_at += entries.len();
        let end = entries.last().filter(|_| self.looked_at >= LOOKED_AT)?;
        Some(self.page(Some(&end.position)))
    }

    fn page(&mut self, rest: Option<&str>) -> Page<InboxItem> {
        Page { items: std::mem::take(&mut self.items), next_cursor: rest.map(inbox::cursor) }
    }
}

impl Reader {
    fn entity(&self) -> Option<EntityId> {
        if let Caller::Entity(entity) = self.caller { Some(entity) } else { None }
    }

    fn may_know(&self, space: SpaceId) -> bool {
        self.spaces.as_ref().is_none_or(|spaces| spaces.contains(&space))
    }

    /// The partitions that have the reader's cards.
    fn parts(&self) -> BTreeSet<u8> {
        match &self.spaces {
            None => inbox::all_parts(),
            Some(spaces) => spaces.iter().map(|space| inbox::part_of(*space)).collect(),
        }
    }

    /// The card of a message, if it waits for the reader.
    fn item(&self, space: &InboxSpace, record: MessageRecord, now: Time) -> Option<InboxItem> {
        if !record.is_asking() {
            return None;
        }
        let card = record.card?;
        let asks = card.asks?;
        let kind = kind_of(&asks);
        if asks.until <= now
            || self.kind.is_some_and(|wanted| wanted != kind)
            || !self.may_settle(&asks, space.membership)
        {
            return None;
        }
        // The text of a long input is not whole, so it does not read as JSON.
        let input = serde_json::from_str(&card.input.text).unwrap_or_default();
        // The input of a call that people decide is no question.
        let question = first_text(&input).filter(|_| kind == InboxKind::Form);
        Some(InboxItem {
            id: record.id,
            kind,
            space_id: space.id,
            space_name: space.name.clone(),
            seq: record.seq,
            run_id: record.run_id?,
            call_id: card.call_id,
            agent: InboxAgent { id: record.sender.id, name: record.sender.name },
            tool: card.name,
            question: question.map(|text| excerpt(text, QUESTION_CHARS).0.to_owned()),
            input,
            input_revision: asks.approval.map_or(0, |approval| approval.input_revision),
            expires_at: asks.until,
            created_at: record.created_at,
        })
    }

    /// Whether the reader may answer the form, or decide the call and has not done so.
    fn may_settle(&self, asks: &Asks, membership: Option<Membership>) -> bool {
        match &asks.approval {
            None => self.caller.may_answer(&asks.answer_by, membership).is_ok(),
            // Whoever has approved the call waits for the others.
            Some(approval) => {
                self.caller.may_decide(&approval.by, membership).is_ok()
                    && approval.decisions.iter().all(|made| Some(made.by) != self.entity())
            }
        }
    }
}

fn kind_of(asks: &Asks) -> InboxKind {
    if asks.approval.is_some() { InboxKind::Approval } else { InboxKind::Form }
}
