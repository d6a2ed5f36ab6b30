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
    Error, Result, Store, keys,
    refusal::Refusal,
    rosters::{MemberRecord, Roster},
    spaces::{Card, SpaceRecord},
    table::WriteError,
    write::Write,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentSpace {
    space_id: SpaceId,
}

/// How often a change of the roster is tried against others.
const TRIES: u32 = 50;

impl Store {
    /// Adds an entity to a space; `None` where it was there already with that role. What was said before counts as read by it.
    pub async fn join(&self, space: SpaceId, entity: &Entity, role: Role, now: Time) -> Result<Option<MemberRecord>> {
        self.join_if(space, entity, Some(role), now, |_| Ok(())).await
    }

    /// The same, if it `may` be done in the space as it is at that moment. Without `role` it keeps the one that it has there; a new member is a plain
    /// one.
    pub async fn join_if(
        &self,
        space: SpaceId,
        entity: &Entity,
        role: Option<Role>,
        now: Time,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_name(space).await?;
            let before = roster.member(entity.id);
            let role = role.or(before.map(|member| member.role)).unwrap_or_default();
            let done = before.filter(|member| member.role == role && member.name == entity.name);
            if let (Some(member), 1..) = (done, tries) {
                // Most likely by our own first try, whose answer was lost; and by it the caller may have given up what allowed it.
                return Ok(Some(member.clone()));
            }
            may(&roster)?;
            if done.is_some() {
                return Ok(None);
            }
            if before.is_none() && roster.members.len() >= limits::MEMBERS {
                return Err(Error::Conflict(format!("a space has at most {} members", limits::MEMBERS)));
            }
            if before.is_none() {
                self.has_room_for_a_space(entity).await?;
            }
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let (g2pk, g2sk) = (Some(keys::spaces_of(entity.id)), Some(space.to_string()));
            let member = match before {
                Some(member) => MemberRecord { role, name: entity.name.clone(), ..member.clone() },
                None => MemberRecord {
                    entity_id: entity.id,
                    name: entity.name.clone(),
                    kind: entity.kind,
                    role,
                    cursor: roster.head.seq,
                    last_run_at: None,
                    read_seq: roster.head.seq,
                    joined_at: now,
                    left: false,
                    g2pk,
                    g2sk,
                },
            };
            let others = roster.members.iter().filter(|other| other.entity_id != entity.id);
            let card = Card::of(&record.settings.name, others.chain([&member]).map(MemberRecord::sender));
            let mut writes = roster_change(space, &roster, &card)?;
            writes.push(match before {
                // Its cursor and read position may have moved on since.
                Some(_) => Write::update(keys::member(space, entity.id), "SET #role = :role, #name = :name")
                    .value(":role", role)?
                    .value(":name", &member.name)?,
                None => Write::put(keys::member(space, entity.id), &member)?,
            });
            writes.push(Write::check(keys::entity_meta(entity.id)).when("attribute_exists(PK) AND attribute_not_exists(#retiredAt)"));
            if entity.kind == EntityType::Agent {
                writes.push(Write::put(keys::agent_space(entity.id, space), &AgentSpace { space_id: space })?);
            }
            let Some(refusal) = self.change_roster(&writes).await? else { return Ok(Some(member)) };
            if refusal.names(&keys::entity_meta(entity.id)) && !refusal.names(&keys::space_head(space)) {
                return Err(Error::invalid("", format!("there is no entity {}", entity.id)));
            }
            self.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// [`Error::Conflict`] where an agent is in as many spaces as it may be in. People are in as many as they like.
    pub async fn has_room_for_a_space(&self, entity: &Entity) -> Result<()> {
        if entity.kind == EntityType::Agent && self.spaces_of(entity.id).await?.len() >= limits::SPACES_OF_AGENT {
            return Err(Error::Conflict(format!(
                "the agent {:?} is in {} spaces, and may be in no more",
                entity.name,
                limits::SPACES_OF_AGENT
            )));
        }
        Ok(())
    }

    /// Takes an entity out of a space; `None` where it was not in it.
    pub async fn leave(&self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        match self.leave_if(space, entity, |_| Ok(())).await {
            Err(Error::NotFound(_)) => self.leave_deleted(space, entity).await.map(|()| None),
            left => left,
        }
    }

    /// The same, if it `may` be done in the space as it is at that moment.
    pub async fn leave_if(
        &self,
        space: SpaceId,
        entity: EntityId,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        let mut tried = None;
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_name(space).await?;
            let member = roster.member(entity);
            if member.is_none() && tried.is_some() {
                // Most likely by our own first try, whose answer was lost.
                return Ok(tried);
            }
            may(&roster)?;
            let Some(member) = member else { return Ok(None) };
            let others = roster.members.iter().filter(|other| other.entity_id != entity);
            let card = Card::of(&record.settings.name, others.map(MemberRecord::sender));
            let mut writes = roster_change(space, &roster, &card)?;
            writes.push(Write::update(keys::member(space, entity), "SET #left = :yes REMOVE #g2pk, #g2sk").value(":yes", true)?);
            // Its own item, or nothing: a person has none.
            writes.push(Write::delete(keys::agent_space(entity, space)));
            if self.change_roster(&writes).await?.is_none() {
                return Ok(Some(member.clone()));
            }
            tried = Some(member.clone());
            self.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// Takes an entity out of a space that is being removed, where there is no order to keep any more.
    pub async fn leave_deleted(&self, space: SpaceId, entity: EntityId) -> Result<()> {
        let member = Write::update(keys::member(space, entity), "SET #left = :yes REMOVE #g2pk, #g2sk").value(":yes", true)?;
        match self.table.transact(&[member, Write::delete(keys::agent_space(entity, space))]).await {
            Ok(()) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Gives a member the name that its entity has now; nothing where it has it already, or is not a member (any more).
    pub async fn rename_member(&self, space: SpaceId, entity: &Entity) -> Result<()> {
        for tries in 0..TRIES {
            let (roster, record) = match self.roster_and_name(space).await {
                Err(Error::NotFound(_)) => return Ok(()),
                found => found?,
            };
            let Some(member) = roster.member(entity.id).filter(|member| member.name != entity.name) else { return Ok(()) };
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let others = roster.members.iter().filter(|other| other.entity_id != entity.id).map(MemberRecord::sender);
            let renamed = Sender { name: entity.name.clone(), ..member.sender() };
            let mut writes = roster_change(space, &roster, &Card::of(&record.settings.name, others.chain([renamed])))?;
            // Its name alone: whatever else was changed of it meanwhile stays.
            writes.push(Write::update(keys::member(space, entity.id), "SET #name = :name").value(":name", &entity.name)?);
            if self.change_roster(&writes).await?.is_none() {
                return Ok(());
            }
            self.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// Moves a member's read position forward to `seq`, at most to the space's last message. Where it stands then.
    pub async fn read_up_to(&self, space: SpaceId, entity: EntityId, seq: u64) -> Result<(u64, bool)> {
        let roster = self.roster(space).await?;
        let member = roster.member(entity).ok_or_else(no_such_member)?;
        let seq = seq.min(roster.head.seq);
        let write = Write::update(keys::member(space, entity), "SET #readSeq = :seq")
            .when("#readSeq < :seq AND attribute_not_exists(#left)")
            .value(":seq", seq)?;
        match self.table.write(write).await {
            Ok(_) => Ok((seq, true)),
            Err(WriteError::Refused(refusal)) => {
                let there: Option<MemberRecord> = refusal.there(&keys::member(space, entity));
                let there = there.filter(|there| !there.left).ok_or_else(no_such_member)?;
                // Also where the answer to our own first try was lost.
                Ok((there.read_seq, there.read_seq == seq && member.read_seq < seq))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// The roster first: a name that is read before it may be the one of before, with the roster of after.
    async fn roster_and_name(&self, space: SpaceId) -> Result<(Arc<Roster>, SpaceRecord)> {
        let roster = self.roster(space).await?;
        Ok((roster, self.space_record(space).await?))
    }

    /// None where it is changed. A refusal where something changed since it was read, also where the answer to our own first try was lost: reading
    /// again shows it done.
    async fn change_roster(&self, writes: &[Write]) -> Result<Option<Refusal>> {
        match self.table.transact(writes).await {
            Ok(()) => Ok(None),
            Err(WriteError::Refused(refusal)) => Ok(Some(refusal)),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

fn roster_change(space: SpaceId, roster: &Roster, card: &Card) -> Result<Vec<Write>> {
    // `seq` too: a cursor that starts at it must not miss a message that is being kept just now.
    let head = Write::update(keys::space_head(space), "SET #roster = :next")
        .when("#roster = :roster AND #seq = :seq")
        .value(":roster", roster.head.roster)?
        .value(":next", roster.head.roster + 1)?
        .value(":seq", roster.head.seq)?;
    Ok(vec![head, Write::put(keys::space_card(space), card)?])
}

fn being_changed() -> Error {
    Error::Retry("the space's members are being changed by many at once; repeat the call".into())
}

fn no_such_member() -> Error {
    Error::NotFound("it is not a member of this space".into())
}

/// Agents' names are unique within a space; case is ignored, as mentions do.
pub fn name_is_free(roster: &Roster, id: EntityId, kind: EntityType, name: &str) -> Result<()> {
    let taken = |other: &&MemberRecord| {
        other.entity_id != id && other.kind == EntityType::Agent && other.name.to_lowercase() == name.to_lowercase()
    };
    match (kind, roster.members.iter().find(taken)) {
        (EntityType::Agent, Some(other)) => {
            Err(Error::Conflict(format!("an agent named {:?} is in the space already ({})", other.name, other.entity_id)))
        }
        _ => Ok(()),
    }
}
