//! Which entities know each other: an entity knows its spaces, and the entities that share a space
//! with it. The index of an entity's spaces finds candidates, and the members' own items decide.

use std::collections::BTreeSet;

use smartspace_domain::{access::Relationship, entities::Entity, ids::EntityId};

use crate::{
    Relationships, Result,
    entities::EntityRecord,
    shared::member::MemberRecord,
    table::{
        keys,
        pages::{Page, PageRequest, bad_cursor},
    },
};

/// How many spaces' members are read at once.
const ROSTERS_AT_ONCE: usize = 32;

impl Relationships<'_> {
    /// The relationship of two entities.
    pub async fn between(self, one: EntityId, other: EntityId) -> Result<Relationship> {
        if one == other {
            return Ok(Relationship::Itself);
        }
        let (ours, theirs) = futures::try_join!(
            self.store.entities().spaces_of(one),
            self.store.entities().spaces_of(other)
        )?;
        let theirs: BTreeSet<_> = theirs.into_iter().collect();
        let both: Vec<_> = ours.into_iter().filter(|space| theirs.contains(space)).collect();
        let wanted: Vec<_> = both
            .iter()
            .flat_map(|space| [keys::member(*space, one), keys::member(*space, other)])
            .collect();
        let mut items = self.store.table.get_all(&wanted).await?;
        for item_keys in wanted.chunks(2) {
            let mut members = 0;
            for item_key in item_keys {
                let member: Option<MemberRecord> = items.take(item_key)?;
                members += usize::from(member.is_some());
            }
            if members == 2 {
                return Ok(Relationship::SharesSpace);
            }
        }
        Ok(Relationship::Stranger)
    }

    /// In how many spaces an entity is.
    pub async fn count_spaces(self, id: EntityId) -> Result<usize> {
        let spaces = self.store.entities().spaces_of(id).await?;
        let wanted: Vec<_> = spaces.into_iter().map(|space| keys::member(space, id)).collect();
        let members: Vec<MemberRecord> = self.store.table.get_all(&wanted).await?.into_all()?;
        // The index may still have a space that was left.
        Ok(members.len())
    }

    /// The entity itself and those that share a space with it, by age. Each page needs the members
    /// of all its spaces. Rosters that this process has seen and that have not changed are not read
    /// again.
    pub async fn known_to(self, id: EntityId, request: &PageRequest) -> Result<Page<Entity>> {
        let limit = request.limit()?;
        let after = request.cursor.as_deref().map(str::parse::<EntityId>).transpose();
        let after = after.map_err(|_| bad_cursor())?;
        let mut known = BTreeSet::from([id]);
        for spaces in self.store.entities().spaces_of(id).await?.chunks(ROSTERS_AT_ONCE) {
            for roster in self.store.members().rosters(spaces).await? {
                // The index may still have a space that was left.
                if roster.member(id).is_some() {
                    known.extend(roster.members.iter().map(|member| member.entity_id));
                }
            }
        }
        let mut rest = known.into_iter().filter(|known| after.is_none_or(|after| *known > after));
        let wanted: Vec<_> =
            rest.by_ref().take(limit).map(|known| (known, keys::entity_meta(known))).collect();
        let next_cursor = rest.next().and(wanted.last()).map(|(last, _)| last.to_string());
        let keys: Vec<_> = wanted.into_iter().map(|(_, key)| key).collect();
        let mut found = self.store.table.get_all(&keys).await?;
        let mut items = Vec::with_capacity(keys.len());
        for key in &keys {
            let record: Option<EntityRecord> = found.take(key)?;
            items.extend(
                record.filter(|record| record.retired_at.is_none()).map(|record| record.entity),
            );
        }
        Ok(Page { items, next_cursor })
    }
}
