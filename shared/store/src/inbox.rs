//! The index of open cards. A card has an entry there from its message on until the transaction
//! that stores its answer or its last decision. Its space chooses one of 16 partitions, and its
//! expiry its place there, so readers merge the partitions.

use std::collections::BTreeSet;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures::future::try_join_all;
use smartspace_domain::{
    Time,
    access::Membership,
    ids::{EntityId, SpaceId},
};

use crate::{
    Inbox, Result,
    shared::{member::MemberRecord, space::SpaceRecord},
    table::{
        Query,
        indexes::Index,
        key_of, keys,
        pages::bad_cursor,
        write::{Item, text},
    },
};

/// How many entries of a partition are read at once.
const READ_AT_ONCE: usize = 100;

/// More than the length of a position.
const MAX_POSITION_BYTES: usize = 200;

/// The entry of a card in the index. The card's message decides whether it is still open.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenEntry {
    pub space: SpaceId,
    /// The number of its message.
    pub seq: u64,
    /// Its place in the order of the index.
    pub position: String,
}

/// Entries of some partitions, soonest expiry first.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenEntries {
    pub entries: Vec<OpenEntry>,
    /// The others are after this position. `None` if there are no others.
    pub rest: Option<String>,
}

/// A space, as far as an inbox needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxSpace {
    pub id: SpaceId,
    pub name: String,
    /// The membership of the reader.
    pub membership: Option<Membership>,
}

/// The partition of a space's cards.
pub fn part_of(space: SpaceId) -> u8 {
    space.part_of(keys::OPEN_PARTS)
}

/// The partitions that have the cards of any space.
pub fn all_parts() -> BTreeSet<u8> {
    (0..keys::OPEN_PARTS).collect()
}

impl OpenEntry {
    fn of(item: &Item) -> Result<Option<Self>> {
        let key = key_of(item)?;
        let space = key.pk.strip_prefix("SPACE#").and_then(|id| id.parse().ok());
        let seq = key.sk.strip_prefix(keys::MSG).and_then(|seq| seq.parse().ok());
        let position = text(item, Index::LISTS.keys.sk).map(str::to_owned);
        let place = space.zip(seq).zip(position);
        Ok(place.map(|((space, seq), position)| Self { space, seq, position }))
    }
}

/// The cursor of the page that begins after this position.
pub fn cursor(position: &str) -> String {
    URL_SAFE_NO_PAD.encode(position)
}

/// The position after which a list begins: that of its cursor, or the first one that has not
/// expired.
pub fn start(cursor: Option<&str>, now: Time) -> Result<String> {
    let now = now.to_string();
    let Some(cursor) = cursor else { return Ok(now) };
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| bad_cursor())?;
    let position = String::from_utf8(bytes).map_err(|_| bad_cursor())?;
    let until = position.split('#').next().unwrap_or_default();
    if until.parse::<Time>().is_err() || position.len() > MAX_POSITION_BYTES {
        return Err(bad_cursor());
    }
    Ok(position.max(now))
}

impl Inbox<'_> {
    /// The next entries of these partitions after a position, soonest expiry first.
    pub async fn entries(self, parts: &BTreeSet<u8>, after: &str) -> Result<OpenEntries> {
        let read = parts.iter().map(|part| self.of_part(*part, after));
        let mut rest: Option<String> = None;
        let mut entries = Vec::new();
        for found in try_join_all(read).await? {
            // Of a partition with more entries, those behind the last one are not known yet.
            if let Some(last) = found.last().filter(|_| found.len() >= READ_AT_ONCE) {
                let known = last.position.clone();
                rest = Some(rest.map_or(known.clone(), |rest| rest.min(known)));
            }
            entries.extend(found);
        }
        entries.retain(|entry| rest.as_ref().is_none_or(|rest| entry.position <= *rest));
        entries.sort_unstable_by(|one, other| one.position.cmp(&other.position));
        Ok(OpenEntries { entries, rest })
    }

    /// What the inbox of `reader` needs to know of some spaces. Deleted ones are left out.
    pub async fn spaces(
        self,
        spaces: &[SpaceId],
        reader: Option<EntityId>,
    ) -> Result<Vec<InboxSpace>> {
        let mut wanted: Vec<_> = spaces.iter().map(|space| keys::space_meta(*space)).collect();
        wanted.extend(spaces.iter().filter_map(|space| Some(keys::member(*space, reader?))));
        let mut items = self.store.table.get_all(&wanted).await?;
        let mut found = Vec::with_capacity(spaces.len());
        for space in spaces {
            let record: Option<SpaceRecord> = items.take(&keys::space_meta(*space))?;
            let Some(record) = record.filter(|record| !record.deleted) else { continue };
            let member: Option<MemberRecord> = match reader {
                Some(reader) => items.take(&keys::member(*space, reader))?,
                None => None,
            };
            found.push(InboxSpace {
                id: *space,
                name: record.settings.name,
                membership: member.as_ref().map(MemberRecord::membership),
            });
        }
        Ok(found)
    }

    async fn of_part(self, part: u8, after: &str) -> Result<Vec<OpenEntry>> {
        // No position begins with another one, so this is the first place after `after`.
        let query = Query::of_index(Index::LISTS, keys::open_cards(part))
            .between(&format!("{after}!"), "~")
            .limit(READ_AT_ONCE);
        let mut entries = Vec::new();
        for item in self.store.table.all(query).await? {
            entries.extend(OpenEntry::of(&item)?);
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_begins_after_its_cursor_and_leaves_out_what_has_expired() {
        let at = |seconds: i64| Time::from_millis(1_771_427_220_000 + seconds * 1_000);
        let space = SpaceId::new(Time::default(), 7);
        let position = keys::open_card(at(5), space, 3);
        let given = cursor(&position);
        assert_eq!(start(None, at(2)), Ok(at(2).to_string()));
        assert_eq!(start(Some(&given), at(2)), Ok(position));
        assert_eq!(start(Some(&given), at(9)), Ok(at(9).to_string()));
        for made_up in ["", "?", &cursor("~"), &cursor("2026"), &cursor(&"9".repeat(2_000))] {
            assert_eq!(start(Some(made_up), at(2)), Err(bad_cursor()), "{made_up}");
        }
    }

    #[test]
    fn positions_sort_by_expiry() {
        let [first, second] = [2, 1].map(|random| SpaceId::new(Time::default(), random));
        let sorted = [
            keys::open_card(Time::from_millis(999), first, 12),
            keys::open_card(Time::from_millis(1_000), second, 9),
            keys::open_card(Time::from_millis(1_000), second, 10),
            keys::open_card(Time::from_millis(1_000), first, 1),
        ];
        assert!(sorted.is_sorted(), "{sorted:?}");
        assert!(format!("{}!", Time::from_millis(1_000)) < sorted[1]);
    }
}
