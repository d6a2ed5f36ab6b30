//! The names of members. Two agents of a space never have the same name.

use smartspace_domain::{
    entities::{Entity, EntityType},
    ids::{EntityId, SpaceId},
};

use crate::{
    Error, Members, Result,
    spaces::{
        SpaceOverview,
        members::{TRIES, being_changed, roster_change},
        rosters::{MemberRecord, Roster},
    },
    table::{keys, write::Write},
};

impl Members<'_> {
    /// Gives a member the current name, description and limit of its entity. Does nothing if it has
    /// them already or is not a member.
    pub async fn rename(self, space: SpaceId, entity: &Entity) -> Result<()> {
        for tries in 0..TRIES {
            let (roster, record) = match self.roster_and_record(space).await {
                Err(Error::NotFound(_)) => return Ok(()),
                found => found?,
            };
            let Some(member) = roster.member(entity.id).filter(|member| !member.describes(entity))
            else {
                return Ok(());
            };
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let others = roster.members.iter().filter(|other| other.entity_id != entity.id);
            let described = member.clone().described(entity);
            let overview = SpaceOverview::of(&record.settings, others.chain([&described]));
            let mut writes = roster_change(space, &roster, &overview)?;
            // Only these: other changes to the member since then stay.
            let expression = "SET #name = :name, #about = :about, #chainLimit = :chainLimit";
            writes.push(
                Write::update(keys::member(space, entity.id), expression)
                    .value(":name", &described.name)?
                    .value(":about", &described.about)?
                    .value(":chainLimit", described.chain_limit)?,
            );
            if self.change_roster(&writes).await?.is_none() {
                return Ok(());
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }
}

/// Fails if another agent of the space has this name. As in mentions, case is ignored.
pub fn name_is_free(roster: &Roster, id: EntityId, kind: EntityType, name: &str) -> Result<()> {
    let taken = |other: &&MemberRecord| {
        other.entity_id != id
            && other.kind == EntityType::Agent
            && other.name.to_lowercase() == name.to_lowercase()
    };
    match (kind, roster.members.iter().find(taken)) {
        (EntityType::Agent, Some(other)) => Err(Error::Conflict(format!(
            "an agent named {:?} is in the space already ({})",
            other.name, other.entity_id
        ))),
        _ => Ok(()),
    }
}
