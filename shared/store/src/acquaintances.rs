//! Who knows whom: entities know those with whom they share a space, and the spaces that they are in.
//! The index of an entity's spaces finds candidates; the members' own items decide.

use std::collections::BTreeSet;

use smartspace_domain::{
    access::{Acquaintance, Caller},
    entities::Entity,
    ids::{EntityId, SpaceId},
    spaces::Space,
};

use crate::{
    Error, Result, Store,
    entities::EntityRecord,
    keys,
    pages::{Ask, Page},
    rosters::{MemberRecord, no_such_space},
    table::{Query, key_of},
};

const LISTED: (&str, &str) = ("g2pk", "g2sk");
/// Spaces whose members are read at once.
const ROSTERS_AT_ONCE: usize = 32;

impl Store {
    /// What an entity has to do with another.
    pub async fn acquaintance(&self, one: EntityId, other: EntityId) -> Result<Acquaintance> {
        if one == other {
            return Ok(Acquaintance::Itself);
        }
        let (ours, theirs) = futures::try_join!(self.spaces_of(one), self.spaces_of(other))?;
        let theirs: BTreeSet<_> = theirs.into_iter().collect();
        let both: Vec<_> = ours.into_iter().filter(|space| theirs.contains(space)).collect();
        let wanted: Vec<_> = both.iter().flat_map(|space| [keys::member(*space, one), keys::member(*space, other)]).collect();
        let mut items = self.table.get_all(&wanted).await?;
        for places in wanted.chunks(2) {
            let mut there = 0;
            for place in places {
                let member: Option<MemberRecord> = items.take(place)?;
                there += usize::from(member.is_some_and(|member| !member.left));
            }
            if there == 2 {
                return Ok(Acquaintance::SharesSpace);
            }
        }
        Ok(Acquaintance::Stranger)
    }

    /// The entity itself and those with whom it shares a space, by age. Reads the members of all its spaces for each page.
    pub async fn acquaintances(&self, id: EntityId, ask: &Ask) -> Result<Page<Entity>> {
        let limit = ask.limit()?;
        let after = ask.cursor.as_deref().map(str::parse::<EntityId>).transpose();
        let after = after.map_err(|_| Error::Malformed("cursor: expected what nextCursor said".into()))?;
        let mut known = BTreeSet::from([id]);
        for spaces in self.spaces_of(id).await?.chunks(ROSTERS_AT_ONCE) {
            let rosters: Vec<_> = spaces.iter().map(|space| self.roster(*space)).collect();
            for roster in futures::future::join_all(rosters).await {
                match roster {
                    Ok(roster) if roster.member(id).is_some() => known.extend(roster.members.iter().map(|member| member.entity_id)),
                    // The index lags behind a leaving, and behind a removal.
                    Ok(_) | Err(Error::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let mut rest = known.into_iter().filter(|known| after.is_none_or(|after| *known > after));
        let wanted: Vec<_> = rest.by_ref().take(limit).map(|known| (known, keys::entity_meta(known))).collect();
        let next_cursor = rest.next().and(wanted.last()).map(|(last, _)| last.to_string());
        let keys: Vec<_> = wanted.into_iter().map(|(_, key)| key).collect();
        let mut found = self.table.get_all(&keys).await?;
        let mut items = Vec::with_capacity(keys.len());
        for key in &keys {
            let record: Option<EntityRecord> = found.take(key)?;
            items.extend(record.filter(|record| record.retired_at.is_none()).map(|record| record.entity));
        }
        Ok(Page { items, next_cursor })
    }

    /// The spaces that an entity is in, as it sees them, by age.
    pub async fn own_spaces(&self, id: EntityId, ask: &Ask) -> Result<Page<Space>> {
        let partition = keys::spaces_of(id);
        let after = ask.after(LISTED, &partition)?;
        let page = self.table.page(Query::of_index("GSI2", LISTED, partition).limit(ask.limit()?).after(after)).await?;
        let keys = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let ids = keys.iter().map(|key| key.pk.strip_prefix("SPACE#").and_then(|id| id.parse::<SpaceId>().ok()).ok_or_else(no_such_space));
        let spaces: Vec<_> = ids.map(async |space| self.space(space?).await).collect();
        let mut items = Vec::with_capacity(spaces.len());
        for (entry, space) in page.items.into_iter().zip(futures::future::join_all(spaces).await) {
            match space.map(|space| space.seen_by(Caller::Entity(id))) {
                Ok(space) if space.me.is_some() => items.push((entry, space)),
                // The index lags behind a leaving, and behind a removal.
                Ok(_) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Page::cut(items, page.next, "g2sk"))
    }
}
