//! Adding many entities to a space at once.

use std::collections::BTreeSet;

use smartspace_domain::{
    Time,
    entities::{Entity, EntityType},
    ids::{EntityId, SpaceId},
    limits, mentions,
    spaces::Role,
};

use super::{member_writes, new_member, no_such_entity, too_many_members};
use crate::{
    Error, Members, Result,
    spaces::{
        SpaceOverview, emptiness,
        members::{TRIES, being_changed, name_is_free, roster_change},
        rosters::{MemberRecord, Roster},
    },
    table::{keys, write::Write},
};

/// How many entities join in one transaction. An agent takes four writes, the roster two, a space
/// without members one, and a transaction has at most 100.
const AT_ONCE: usize = 24;

impl Members<'_> {
    /// Adds entities to a space, each with its role. Those that are members already stay as they
    /// are, and those that have left it stay away. Returns the members that were added. Entities
    /// that an error keeps out may follow others that have joined.
    ///
    /// Each transaction adds many members, so it reads and writes the roster once for all of them.
    /// The caller has checked that the agents may be in another space.
    pub async fn join_many(
        self,
        space: SpaceId,
        entities: &[Entity],
        role_of: impl Fn(EntityId) -> Role + Send + Sync,
        now: Time,
    ) -> Result<Vec<MemberRecord>> {
        let mut joined = Vec::with_capacity(entities.len());
        for entities in entities.chunks(AT_ONCE) {
            joined.extend(self.join_at_once(space, entities, &role_of, now).await?);
        }
        Ok(joined)
    }

    async fn join_at_once(
        self,
        space: SpaceId,
        entities: &[Entity],
        role_of: &(impl Fn(EntityId) -> Role + Send + Sync),
        now: Time,
    ) -> Result<Vec<MemberRecord>> {
        // The members of the last try. If its answer was lost, the roster has them.
        let mut tried: Vec<MemberRecord> = Vec::new();
        let mut former = BTreeSet::new();
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_record(space).await?;
            let is_missing = |entity: &&Entity| {
                roster.member(entity.id).is_none() && !former.contains(&entity.id)
            };
            let missing: Vec<_> = entities.iter().filter(is_missing).collect();
            if missing.is_empty() {
                tried.retain(|member| roster.member(member.entity_id).is_some());
                return Ok(tried);
            }
            check_room(&roster, &missing)?;
            tried = missing
                .iter()
                .map(|entity| new_member(space, entity, role_of(entity.id), roster.head.seq, now))
                .collect();
            let overview = SpaceOverview::of(&record.settings, roster.members.iter().chain(&tried));
            let mut writes: Vec<Write> = roster_change(space, &roster, &overview)?;
            writes.extend(emptiness::joined(&record));
            for (entity, member) in missing.iter().zip(&tried) {
                writes.push(Write::put(keys::member(space, entity.id), member)?);
                let past = Write::check(keys::past_member(space, entity.id));
                writes.push(past.when("attribute_not_exists(PK)"));
                writes.extend(member_writes(space, entity)?);
            }
            let Some(refusal) = self.change_roster(&writes).await? else { return Ok(tried) };
            let gone = missing.iter().find(|entity| refusal.names(&keys::entity_meta(entity.id)));
            if let Some(entity) = gone.filter(|_| !refusal.names(&keys::space_head(space))) {
                return Err(no_such_entity(entity.id));
            }
            let has_left = |entity: &&&Entity| refusal.names(&keys::past_member(space, entity.id));
            former.extend(missing.iter().filter(has_left).map(|entity| entity.id));
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }
}

fn check_room(roster: &Roster, missing: &[&Entity]) -> Result<()> {
    if roster.members.len() + missing.len() > limits::MEMBERS {
        return Err(too_many_members());
    }
    let mut names = BTreeSet::new();
    for entity in missing.iter().filter(|entity| entity.kind == EntityType::Agent) {
        name_is_free(roster, entity.id, entity.kind, &entity.name)?;
        if !names.insert(mentions::fold(&entity.name)) {
            return Err(Error::Conflict(format!(
                "two of the agents are named {:?}; names of agents are unique within a space",
                entity.name
            )));
        }
    }
    Ok(())
}
