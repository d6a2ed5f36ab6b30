//! Adding an entity to a space.

mod invited;
mod many;

pub use self::invited::Accepted;
use serde::Serialize;
use smartspace_domain::{
    Time,
    access::Caller,
    entities::{Entity, EntityType},
    ids::{EntityId, SpaceId},
    limits,
    spaces::Role,
    system_lines::{LineKind, SystemLine},
};

use crate::{
    Error, Members, Result,
    entities::not_retired,
    spaces::{
        SpaceOverview, SpaceRecord, emptiness,
        lines::{Reported, line_write},
        members::{TRIES, being_changed, name_is_free, roster_change},
        rosters::{MemberRecord, Roster},
    },
    table::{keys, write::Write},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentSpace {
    space_id: SpaceId,
}

impl Members<'_> {
    /// Adds an entity to a space that is being made: no line reports it. Returns `None` if it was a
    /// member with that role already. Earlier messages count as read by it.
    pub async fn join(
        self,
        space: SpaceId,
        entity: &Entity,
        role: Role,
        now: Time,
    ) -> Result<Option<MemberRecord>> {
        self.join_as(space, entity, Some(role), None, now, |_| Ok(())).await
    }

    /// Adds an entity to a space in a caller's name, if `may` allows it for the roster at that
    /// moment. Without `role`, a member keeps its role, and a new member gets the default one.
    pub async fn join_if(
        self,
        space: SpaceId,
        entity: &Entity,
        role: Option<Role>,
        by: Caller,
        now: Time,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        self.join_as(space, entity, role, Some(by), now, may).await
    }

    async fn join_as(
        self,
        space: SpaceId,
        entity: &Entity,
        role: Option<Role>,
        by: Option<Caller>,
        now: Time,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_record(space).await?;
            let before = roster.member(entity.id);
            let role = role.or(before.map(|member| member.role)).unwrap_or_default();
            let done = before.filter(|member| member.role == role && member.describes(entity));
            if let (Some(member), 1..) = (done, tries) {
                // Most likely our own first try did it and its answer was lost. By that try the
                // caller may have given up the right to do it, so `may` is not asked again.
                return Ok(Some(member.clone()));
            }
            may(&roster)?;
            if done.is_some() {
                return Ok(None);
            }
            if before.is_none() {
                has_room_for_a_member(&roster)?;
                self.has_room_for_a_space(entity).await?;
            }
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let member = match before {
                Some(member) => member.clone().in_role(role, now).described(entity),
                None => new_member(space, entity, role, roster.head.seq, now),
            };
            let line = by.filter(|_| before.is_none()).map(|by| {
                let reported = Reported { space, roster: &roster, by, at: now };
                reported.member(LineKind::Joined, member.sender())
            });
            let mut writes = join_writes(space, &roster, &record, &member, line.as_ref())?;
            writes.extend(member_writes(space, entity)?);
            let Some(refusal) = self.change_roster(&writes).await? else { return Ok(Some(member)) };
            if refusal.names(&keys::entity_meta(entity.id))
                && !refusal.names(&keys::space_head(space))
            {
                return Err(no_such_entity(entity.id));
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// Fails with [`Error::Conflict`] if an entity is in too many spaces to join another one. The
    /// index that lists them may be late, so some joins at the same moment may pass. Leaving has no
    /// limit.
    pub async fn has_room_for_a_space(self, entity: &Entity) -> Result<()> {
        let (kind, most) = match entity.kind {
            EntityType::Agent => ("an agent", limits::SPACES_OF_AGENT),
            EntityType::Human => ("a person", limits::SPACES_OF_PERSON),
        };
        if self.store.entities().spaces_of(entity.id).await?.len() >= most {
            return Err(Error::Conflict(format!(
                "{:?} is in {most} spaces, which is the most that {kind} may be in; leave one of \
                 them first",
                entity.name
            )));
        }
        Ok(())
    }
}

fn has_room_for_a_member(roster: &Roster) -> Result<()> {
    if roster.members.len() >= limits::MEMBERS {
        return Err(too_many_members());
    }
    Ok(())
}

fn too_many_members() -> Error {
    Error::Conflict(format!("a space has at most {} members", limits::MEMBERS))
}

fn no_such_entity(id: EntityId) -> Error {
    Error::invalid("", format!("there is no entity {id}"))
}

/// A new member, which has read all messages up to `seq`.
fn new_member(space: SpaceId, entity: &Entity, role: Role, seq: u64, now: Time) -> MemberRecord {
    MemberRecord {
        entity_id: entity.id,
        name: entity.name.clone(),
        kind: entity.kind,
        about: MemberRecord::about(entity),
        chain_limit: MemberRecord::chain_limit(entity),
        role,
        cursor: seq,
        last_run_at: None,
        read_seq: seq,
        joined_at: now,
        owner_since: (role == Role::Owner).then_some(now),
        guest_by: None,
        g2pk: Some(keys::spaces_of(entity.id)),
        g2sk: Some(space.to_string()),
    }
}

/// The writes that add `member`, or change its name and role if the roster has it already. `line`
/// reports it.
fn join_writes(
    space: SpaceId,
    roster: &Roster,
    record: &SpaceRecord,
    member: &MemberRecord,
    line: Option<&SystemLine>,
) -> Result<Vec<Write>> {
    let entity = member.entity_id;
    let others = roster.members.iter().filter(|other| other.entity_id != entity);
    let overview = SpaceOverview::of(&record.settings, others.chain([member])).after(line);
    let mut writes = roster_change(space, roster, &overview)?;
    writes.extend(line.map(|line| line_write(space, line)).transpose()?);
    writes.extend(emptiness::joined(record));
    let key = keys::member(space, entity);
    writes.push(if roster.member(entity).is_some() {
        // Its cursor and read position may have moved since the roster was read, so they stay.
        let expression =
            "SET #role = :role, #ownerSince = :ownerSince, #name = :name, #about = :about";
        Write::update(key, expression)
            .value(":role", member.role)?
            .value(":ownerSince", member.owner_since)?
            .value(":name", &member.name)?
            .value(":about", &member.about)?
    } else {
        Write::fill(key, member, &["about", "lastRunAt", "left", "ownerSince", "guestBy"])?
    });
    Ok(writes)
}

/// The writes to the items of an entity that joins a space.
fn member_writes(space: SpaceId, entity: &Entity) -> Result<Vec<Write>> {
    let mut writes = vec![not_retired(entity.id)];
    if entity.kind == EntityType::Agent {
        let agent_space = AgentSpace { space_id: space };
        writes.push(Write::fill(keys::agent_space(entity.id, space), &agent_space, &[])?);
    }
    Ok(writes)
}
