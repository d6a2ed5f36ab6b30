//! Joining, leaving, names, and read positions.

use std::sync::Arc;

use serde::Serialize;
use smartspace_domain::{
    Time,
    entities::{Entity, EntityType},
    ids::{EntityId, SpaceId},
    limits,
    messages::Sender,
    spaces::Role,
};

use crate::{
    Error, Members, Result,
    spaces::{
        Card, SpaceRecord,
        rosters::{MemberRecord, Roster},
    },
    table::{WriteError, keys, refusal::Refusal, write::Write},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentSpace {
    space_id: SpaceId,
}

/// How often a change of the roster is tried if other changes come first.
const TRIES: u32 = 50;

impl Members<'_> {
    /// Adds an entity to a space. Returns `None` if it was a member with that role already. Earlier
    /// messages count as read by it.
    pub async fn join(
        self,
        space: SpaceId,
        entity: &Entity,
        role: Role,
        now: Time,
    ) -> Result<Option<MemberRecord>> {
        self.join_if(space, entity, Some(role), now, |_| Ok(())).await
    }

    /// Adds an entity to a space if `may` allows it for the roster at that moment. Without `role`,
    /// a member keeps its role, and a new member gets the default one.
    pub async fn join_if(
        self,
        space: SpaceId,
        entity: &Entity,
        role: Option<Role>,
        now: Time,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_record(space).await?;
            let before = roster.member(entity.id);
            let role = role.or(before.map(|member| member.role)).unwrap_or_default();
            let done = before.filter(|member| member.role == role && member.name == entity.name);
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
                Some(member) => MemberRecord { role, name: entity.name.clone(), ..member.clone() },
                None => new_member(space, entity, role, roster.head.seq, now),
            };
            let writes = join_writes(space, &roster, &record, entity, &member)?;
            let Some(refusal) = self.change_roster(&writes).await? else { return Ok(Some(member)) };
            if refusal.names(&keys::entity_meta(entity.id))
                && !refusal.names(&keys::space_head(space))
            {
                return Err(Error::invalid("", format!("there is no entity {}", entity.id)));
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// Fails with [`Error::Conflict`] if an agent is in too many spaces to join another one. For
    /// people there is no limit.
    pub async fn has_room_for_a_space(self, entity: &Entity) -> Result<()> {
        if entity.kind == EntityType::Agent
            && self.store.entities().spaces_of(entity.id).await?.len() >= limits::SPACES_OF_AGENT
        {
            return Err(Error::Conflict(format!(
                "the agent {:?} is in {} spaces, which is the most that an agent may be in",
                entity.name,
                limits::SPACES_OF_AGENT
            )));
        }
        Ok(())
    }

    /// Removes an entity from a space. Returns `None` if it was not a member.
    pub async fn leave(self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        match self.leave_if(space, entity, |_| Ok(())).await {
            Err(Error::NotFound(_)) => self.leave_deleted(space, entity).await.map(|()| None),
            left => left,
        }
    }

    /// Removes an entity from a space if `may` allows it for the roster at that moment.
    pub async fn leave_if(
        self,
        space: SpaceId,
        entity: EntityId,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        let mut tried = None;
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_record(space).await?;
            let member = roster.member(entity);
            if member.is_none() && tried.is_some() {
                // Most likely our own first try did it and its answer was lost.
                return Ok(tried);
            }
            may(&roster)?;
            let Some(member) = member else { return Ok(None) };
            let others = roster.members.iter().filter(|other| other.entity_id != entity);
            let card = Card::of(&record.settings.name, others.map(MemberRecord::sender));
            let mut writes = roster_change(space, &roster, &card)?;
            writes.push(
                Write::update(keys::member(space, entity), "SET #left = :yes REMOVE #g2pk, #g2sk")
                    .value(":yes", true)?,
            );
            // Only agents have this item. For a person, this deletes nothing.
            writes.push(Write::delete(keys::agent_space(entity, space)));
            if self.change_roster(&writes).await?.is_none() {
                return Ok(Some(member.clone()));
            }
            tried = Some(member.clone());
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// Removes an entity from a deleted space, which has no roster any longer.
    pub async fn leave_deleted(self, space: SpaceId, entity: EntityId) -> Result<()> {
        let member =
            Write::update(keys::member(space, entity), "SET #left = :yes REMOVE #g2pk, #g2sk")
                .value(":yes", true)?;
        match self
            .store
            .table
            .transact(&[member, Write::delete(keys::agent_space(entity, space))])
            .await
        {
            Ok(()) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Gives a member the current name of its entity. Does nothing if it has that name already or
    /// is not a member.
    pub async fn rename(self, space: SpaceId, entity: &Entity) -> Result<()> {
        for tries in 0..TRIES {
            let (roster, record) = match self.roster_and_record(space).await {
                Err(Error::NotFound(_)) => return Ok(()),
                found => found?,
            };
            let Some(member) = roster.member(entity.id).filter(|member| member.name != entity.name)
            else {
                return Ok(());
            };
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let others = roster
                .members
                .iter()
                .filter(|other| other.entity_id != entity.id)
                .map(MemberRecord::sender);
            let renamed = Sender { name: entity.name.clone(), ..member.sender() };
            let mut writes = roster_change(
                space,
                &roster,
                &Card::of(&record.settings.name, others.chain([renamed])),
            )?;
            // Only its name: other changes to the member since then stay.
            writes.push(
                Write::update(keys::member(space, entity.id), "SET #name = :name")
                    .value(":name", &entity.name)?,
            );
            if self.change_roster(&writes).await?.is_none() {
                return Ok(());
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// Moves a member's read position forward to `seq`, at most to the space's last message.
    /// Returns the new position, and whether it has moved.
    pub async fn read_up_to(
        self,
        space: SpaceId,
        entity: EntityId,
        seq: u64,
    ) -> Result<(u64, bool)> {
        let roster = self.roster(space).await?;
        let member = roster.member(entity).ok_or_else(no_such_member)?;
        let seq = seq.min(roster.head.seq);
        let write = Write::update(keys::member(space, entity), "SET #readSeq = :seq")
            .when("#readSeq < :seq AND attribute_not_exists(#left)")
            .value(":seq", seq)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok((seq, true)),
            Err(WriteError::Refused(refusal)) => {
                let stored: Option<MemberRecord> = refusal.existing(&keys::member(space, entity));
                let stored = stored.filter(|stored| !stored.left).ok_or_else(no_such_member)?;
                // The first try may have moved it and its answer was lost.
                Ok((stored.read_seq, stored.read_seq == seq && member.read_seq < seq))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Reads the roster first. A space that is read before its roster may still have its old name.
    async fn roster_and_record(self, space: SpaceId) -> Result<(Arc<Roster>, SpaceRecord)> {
        let roster = self.roster(space).await?;
        Ok((roster, self.store.spaces().record(space).await?))
    }

    /// Returns `None` if the roster was changed, or the refusal if something has changed since it
    /// was read. That may be our own first try whose answer was lost: reading again shows its
    /// change.
    async fn change_roster(self, writes: &[Write]) -> Result<Option<Refusal>> {
        match self.store.table.transact(writes).await {
            Ok(()) => Ok(None),
            Err(WriteError::Refused(refusal)) => Ok(Some(refusal)),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

fn has_room_for_a_member(roster: &Roster) -> Result<()> {
    if roster.members.len() >= limits::MEMBERS {
        let text = format!("a space has at most {} members", limits::MEMBERS);
        return Err(Error::Conflict(text));
    }
    Ok(())
}

/// A new member, which has read all messages up to `seq`.
fn new_member(space: SpaceId, entity: &Entity, role: Role, seq: u64, now: Time) -> MemberRecord {
    MemberRecord {
        entity_id: entity.id,
        name: entity.name.clone(),
        kind: entity.kind,
        role,
        cursor: seq,
        last_run_at: None,
        read_seq: seq,
        joined_at: now,
        left: false,
        g2pk: Some(keys::spaces_of(entity.id)),
        g2sk: Some(space.to_string()),
    }
}

/// The writes that add `member`, or change its name and role if the roster has it already.
fn join_writes(
    space: SpaceId,
    roster: &Roster,
    record: &SpaceRecord,
    entity: &Entity,
    member: &MemberRecord,
) -> Result<Vec<Write>> {
    let others = roster.members.iter().filter(|other| other.entity_id != entity.id);
    let card = Card::of(&record.settings.name, others.chain([member]).map(MemberRecord::sender));
    let mut writes = roster_change(space, roster, &card)?;
    let key = keys::member(space, entity.id);
    writes.push(if roster.member(entity.id).is_some() {
        // Its cursor and read position may have moved since the roster was read, so they stay.
        Write::update(key, "SET #role = :role, #name = :name")
            .value(":role", member.role)?
            .value(":name", &member.name)?
    } else {
        Write::put(key, member)?
    });
    writes.push(
        Write::check(keys::entity_meta(entity.id))
            .when("attribute_exists(PK) AND attribute_not_exists(#retiredAt)"),
    );
    if entity.kind == EntityType::Agent {
        let agent_space = AgentSpace { space_id: space };
        writes.push(Write::put(keys::agent_space(entity.id, space), &agent_space)?);
    }
    Ok(writes)
}

fn roster_change(space: SpaceId, roster: &Roster, card: &Card) -> Result<Vec<Write>> {
    // A new member's cursor starts at `seq`, so no message may be appended at the same time.
    let head = Write::update(keys::space_head(space), "SET #roster = :next")
        .when("#roster = :roster AND #seq = :seq")
        .value(":roster", roster.head.roster)?
        .value(":next", roster.head.roster + 1)?
        .value(":seq", roster.head.seq)?;
    Ok(vec![head, Write::put(keys::space_card(space), card)?])
}

fn being_changed() -> Error {
    Error::Retry("too many changes of the space's members at once; repeat the call".into())
}

fn no_such_member() -> Error {
    Error::NotFound("it is not a member of this space".into())
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
