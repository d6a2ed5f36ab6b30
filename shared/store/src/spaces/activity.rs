//! Lists of spaces by activity, newest first.
//!
//! The heads of all spaces are in an index. A message moves the head of its space there at most
//! once a minute, in the write that it makes anyway. The operator's list reads the index, and a
//! person's list the heads of its spaces.
//!
//! A space that moves while a reader pages would be missed, because its new place is on a page that
//! the reader has seen. So a cursor says where the list began, and after the last page follow the
//! spaces that have moved since. A reader may get a space twice.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures::future::join_all;
use serde_dynamo::AttributeValue;
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{EntityId, SpaceId},
    limits::PAGE_BYTES,
    spaces::{LastMessage, Looked, ShownLast, ShownLooked, Space},
};

use crate::{
    Error, Result, Spaces,
    shared::{
        message::MessageRecord,
        space::{SpaceRecord, no_such_space},
    },
    spaces::{
        rosters::{Head, Roster},
        view,
    },
    table::{
        Query, WriteError,
        indexes::Index,
        keys,
        pages::{Page, PageRequest, bad_cursor, json_bytes},
        write::{Item, Write, text},
    },
};

/// How many spaces of a list are read at once.
const SPACES_AT_ONCE: usize = 16;

/// A space's place in a list: when something last happened in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Activity {
    at: Time,
    space: SpaceId,
}

impl Activity {
    fn read(text: &str) -> Option<Self> {
        let (at, space) = text.split_once('#')?;
        Some(Self { at: at.parse().ok()?, space: space.parse().ok()? })
    }

    fn text(self) -> String {
        keys::active_space(self.at, self.space)
    }
}

/// The part of a list that a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// From the newest space on.
    First,
    /// Spaces before `before`. The list began with the space `began`.
    Older { before: Activity, began: Activity },
    /// Spaces that have moved in front of `after` since the list began, oldest first.
    Moved { after: Activity },
}

impl Part {
    fn of(request: &PageRequest) -> Result<Self> {
        let Some(cursor) = &request.cursor else { return Ok(Self::First) };
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| bad_cursor())?;
        let places: Vec<String> = serde_json::from_slice(&bytes).map_err(|_| bad_cursor())?;
        let places: Option<Vec<_>> = places.iter().map(|place| Activity::read(place)).collect();
        match places.as_deref() {
            Some([before, began]) => Ok(Self::Older { before: *before, began: *began }),
            Some([after]) => Ok(Self::Moved { after: *after }),
            _ => Err(bad_cursor()),
        }
    }

    fn cursor(self) -> Option<String> {
        let places = match self {
            Self::First => return None,
            Self::Older { before, began } => vec![before.text(), began.text()],
            Self::Moved { after } => vec![after.text()],
        };
        Some(URL_SAFE_NO_PAD.encode(serde_json::json!(places).to_string()))
    }

    /// The part after a page that showed spaces up to `last`. `None` if there are no others.
    fn after(self, first: Option<Activity>, last: Option<Activity>) -> Option<Self> {
        let (first, last) = (first?, last?);
        Some(match self {
            Self::First => Self::Older { before: last, began: first },
            Self::Older { began, .. } => Self::Older { before: last, began },
            Self::Moved { .. } => Self::Moved { after: last },
        })
    }
}

/// The spaces of a list.
enum Source {
    All,
    /// Those of an entity, oldest first.
    Known(Vec<Activity>),
}

/// A space, as it was read for a reader.
type SpaceAsRead = (SpaceRecord, Arc<Roster>);

impl Spaces<'_> {
    /// A page of the caller's spaces by activity, as the caller sees them. The operator sees all.
    pub async fn list(self, caller: Caller, request: &PageRequest) -> Result<Page<Space>> {
        let limit = request.limit()?;
        let part = Part::of(request)?;
        let source = match caller {
            Caller::Operator => Source::All,
            Caller::Entity(entity) => Source::Known(self.places_of(entity).await?),
        };
        // One more shows whether there are others.
        let mut places = self.places(&source, part, limit + 1).await?;
        let has_more = places.len() > limit;
        places.truncate(limit);
        let (items, shown) = self.shown_at(caller, &places).await?;
        let next = if has_more || shown < places.len() {
            part.after(places.first().copied(), places[..shown].last().copied())
        } else {
            self.moved_since(&source, part).await?
        };
        Ok(Page { items, next_cursor: next.and_then(Part::cursor) })
    }

    /// What follows after the oldest space: those that have moved since the list began.
    async fn moved_since(self, source: &Source, part: Part) -> Result<Option<Part>> {
        let Part::Older { began, .. } = part else { return Ok(None) };
        let moved = Part::Moved { after: began };
        Ok((!self.places(source, moved, 1).await?.is_empty()).then_some(moved))
    }

    /// The first places of a part.
    async fn places(self, source: &Source, part: Part, limit: usize) -> Result<Vec<Activity>> {
        match source {
            Source::Known(all) => Ok(match part {
                Part::First => all.iter().rev().take(limit).copied().collect(),
                Part::Older { before, .. } => {
                    let end = all.partition_point(|place| *place < before);
                    all[..end].iter().rev().take(limit).copied().collect()
                }
                Part::Moved { after } => {
                    let begin = all.partition_point(|place| *place <= after);
                    all[begin..].iter().take(limit).copied().collect()
                }
            }),
            Source::All => {
                let query = Query::of_index(Index::LISTS, keys::SPACES_BY_ACTIVITY.to_owned());
                let query = match part {
                    Part::First => query.newest_first(),
                    Part::Older { before, .. } => query.newest_first().after(Some(entry(before))),
                    Part::Moved { after } => query.after(Some(entry(after))),
                };
                let items = self.store.table.all(query.limit(limit)).await?;
                let places = items.iter().filter_map(|item| text(item, Index::LISTS.keys.sk));
                Ok(places.filter_map(Activity::read).collect())
            }
        }
    }

    /// The places of an entity's spaces, oldest first.
    async fn places_of(self, entity: EntityId) -> Result<Vec<Activity>> {
        let spaces = self.store.entities().spaces_of(entity).await?;
        let heads = self.store.members().heads(&spaces).await?;
        let places = heads.into_iter();
        let mut places: Vec<_> = places
            .map(|(space, head)| Activity { at: head.at.unwrap_or_default(), space })
            .collect();
        places.sort_unstable();
        Ok(places)
    }

    /// The spaces at these places, by activity, until the page is full, and how many of the places
    /// it used. Only a few spaces are read at once, because the roster of a large space is large.
    async fn shown_at(self, caller: Caller, places: &[Activity]) -> Result<(Vec<Space>, usize)> {
        let mut items: Vec<Space> = Vec::with_capacity(places.len());
        let mut bytes = 0;
        let mut used = 0;
        'page: for some in places.chunks(SPACES_AT_ONCE) {
            let read = join_all(some.iter().map(|place| self.read(place.space))).await;
            let mut found = Vec::with_capacity(some.len());
            for space in read {
                match space {
                    // The index may still have a deleted space.
                    Err(Error::NotFound(_)) => {}
                    space => found.push(space?),
                }
            }
            let mut shown = BTreeMap::new();
            for space in self.show(caller, found).await? {
                shown.insert(space.id, space);
            }
            for place in some {
                let Some(space) = shown.remove(&place.space) else {
                    used += 1;
                    continue;
                };
                bytes += json_bytes(&space);
                if bytes > PAGE_BYTES && !items.is_empty() {
                    break 'page;
                }
                used += 1;
                // The index may still have a space that the entity has left.
                if caller == Caller::Operator || space.me.is_some() {
                    items.push(space);
                }
            }
        }
        items.sort_by_key(|space| std::cmp::Reverse(active_at(space)));
        Ok((items, used))
    }

    /// A space, as a caller sees it.
    pub async fn seen_by(self, id: SpaceId, caller: Caller) -> Result<Space> {
        let read = self.read(id).await?;
        let shown = self.show(caller, vec![read]).await?.pop();
        shown.ok_or_else(|| Error::Internal("a space has no view".into()))
    }

    async fn read(self, id: SpaceId) -> Result<SpaceAsRead> {
        futures::try_join!(self.record(id), self.store.members().roster(id))
    }

    /// These spaces, as a caller sees them. The last messages are read now: nothing repeats their
    /// texts, so that a deleted one does not live on.
    async fn show(self, caller: Caller, spaces: Vec<SpaceAsRead>) -> Result<Vec<Space>> {
        let position = |(record, roster): &SpaceAsRead| match caller {
            Caller::Operator => record.looked_seq,
            Caller::Entity(id) => roster.member(id).map(|member| member.view().read_seq),
        };
        let mut wanted = Vec::new();
        for space in &spaces {
            let (SpaceRecord { id, .. }, head) = (&space.0, &space.1.head);
            let read = position(space).filter(|read| *read < head.seq && head.cards > 0);
            let seqs = read.into_iter().chain([head.seq]).filter(|seq| *seq > 0);
            wanted.extend(seqs.map(|seq| keys::numbered(*id, keys::MSG, seq)));
        }
        let mut items = self.store.table.get_all(&wanted).await?;
        let mut messages: BTreeMap<_, MessageRecord> = BTreeMap::new();
        for key in wanted {
            messages.extend(items.take(&key)?.map(|message| (key, message)));
        }
        let mut shown = Vec::with_capacity(spaces.len());
        for space in spaces {
            let read = position(&space);
            let (record, roster) = space;
            let head = &roster.head;
            let message = |seq| messages.get(&keys::numbered(record.id, keys::MSG, seq));
            let last = ShownLast(message(head.seq).map(MessageRecord::in_list));
            let cards = read.map_or(0, |seq| head.cards_up_to(seq, message(seq)));
            let looked = ShownLooked(read.map(|seq| Looked { seq, cards }));
            let looked = (caller == Caller::Operator).then_some(looked);
            let view = Space { last_message: Some(last), looked, ..view(record, &roster) };
            shown.push(view.seen_by(caller, cards));
        }
        Ok(shown)
    }

    /// The last message of a space, and how many cards the space has. `None` if it has no message,
    /// or is deleted.
    pub async fn last_message(self, id: SpaceId) -> Result<Option<(LastMessage, u64)>> {
        let Some(head) = self.store.members().head(id).await? else { return Ok(None) };
        let key = keys::numbered(id, keys::MSG, head.seq);
        let record: Option<MessageRecord> = self.store.table.get(&key).await?;
        Ok(record.map(|record| (record.in_list(), head.cards)))
    }

    /// Moves the operator's mark in a space forward to `seq`, at most to the last message. Returns
    /// the mark.
    pub async fn look(self, id: SpaceId, seq: u64) -> Result<Looked> {
        let head = self.store.members().head(id).await?.ok_or_else(no_such_space)?;
        let seq = seq.min(head.seq);
        let write = Write::update(keys::space_meta(id), "SET #lookedSeq = :seq")
            .when("attribute_not_exists(#lookedSeq) OR #lookedSeq < :seq")
            .value(":seq", seq)?;
        let seq = match self.store.table.write(write).await {
            Ok(_) => seq,
            Err(WriteError::Refused(refusal)) => {
                let stored: Option<SpaceRecord> = refusal.existing(&keys::space_meta(id));
                stored.and_then(|stored| stored.looked_seq).ok_or_else(no_such_space)?
            }
            Err(WriteError::Other(error)) => return Err(error),
        };
        Ok(Looked { seq, cards: self.cards_up_to(id, &head, seq).await? })
    }

    /// How many cards a space has up to a message.
    pub(crate) async fn cards_up_to(self, id: SpaceId, head: &Head, seq: u64) -> Result<u64> {
        if seq == 0 || seq >= head.seq || head.cards == 0 {
            return Ok(head.cards_up_to(seq, None));
        }
        let key = keys::numbered(id, keys::MSG, seq);
        let message: Option<MessageRecord> = self.store.table.get(&key).await?;
        Ok(head.cards_up_to(seq, message.as_ref()))
    }
}

impl Head {
    /// How many cards the space has up to a message, which counts them.
    fn cards_up_to(&self, seq: u64, message: Option<&MessageRecord>) -> u64 {
        match message {
            _ if seq == 0 => 0,
            Some(message) if seq < self.seq => message.cards,
            _ => self.cards,
        }
    }
}

/// When something last happened in a space.
fn active_at(space: &Space) -> Time {
    let last = space.last_message.as_ref().and_then(|last| last.0.as_ref());
    last.map_or(space.created_at, |last| last.at)
}

/// The index entry of a place.
fn entry(place: Activity) -> Item {
    let head = keys::space_head(place.space);
    let parts = [
        ("PK", head.pk),
        ("SK", head.sk),
        (Index::LISTS.keys.pk, keys::SPACES_BY_ACTIVITY.to_owned()),
        (Index::LISTS.keys.sk, place.text()),
    ];
    parts.map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(millis: i64, space: u128) -> Activity {
        let at = Time::from_millis(1_771_427_220_000 + millis);
        Activity { at, space: SpaceId::new(Time::default(), space) }
    }

    fn request(part: Part) -> PageRequest {
        PageRequest { cursor: part.cursor(), limit: None }
    }

    #[test]
    fn places_sort_as_their_texts_do() {
        let places = [place(-1, 9), place(0, 1), place(0, 2), place(1, 1)];
        assert!(places.is_sorted());
        assert!(places.map(Activity::text).is_sorted());
        assert_eq!(places.map(|place| Activity::read(&place.text())), places.map(Some));
    }

    #[test]
    fn a_cursor_reads_as_its_part_and_a_made_up_one_is_refused() {
        let older = Part::Older { before: place(1, 1), began: place(5, 2) };
        for part in [Part::First, older, Part::Moved { after: place(5, 2) }] {
            assert_eq!(Part::of(&request(part)), Ok(part));
        }
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for made_up in ["", "?", &encoded("[]"), &encoded("[\"x\"]"), &encoded("[1,2]")] {
            let request = PageRequest { cursor: Some(made_up.to_owned()), limit: None };
            assert_eq!(Part::of(&request), Err(bad_cursor()), "{made_up}");
        }
    }
}
