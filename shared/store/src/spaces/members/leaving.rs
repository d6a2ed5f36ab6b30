//! Removing an entity from a space.
//!
//! What follows, the end of its runs and subscriptions there, is a duty: the transaction stores the
//! departure and makes the entity due.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{EntityId, SpaceId},
    limits::due,
    spaces::SpaceSettings,
    system_lines::LineKind,
};

use crate::{
    Error, Members, Result,
    spaces::{
        SpaceOverview,
        emptiness::AfterLeaving,
        lines::{Reported, line_write},
        members::{TRIES, being_changed, move_to_past, roster_change},
        rosters::{MemberRecord, Roster},
    },
    table::{Query, WriteError, keys, read, write::Write},
};

/// A space that an entity has left, while something must still follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Departure {
    pub space_id: SpaceId,
    /// The version of the roster without the entity. It identifies this departure.
    roster: u64,
}

impl Members<'_> {
    /// Removes a retired entity from a space. Returns `None` if it was not a member. The entity is
    /// due already, for its retirement, and until [`Members::finish_departure`] is called.
    pub async fn leave(
        self,
        space: SpaceId,
        entity: EntityId,
        now: Time,
    ) -> Result<Option<MemberRecord>> {
        let duty = |roster: &Roster| Ok(vec![departure_write(space, entity, roster)?]);
        match self.leave_with(space, entity, Caller::Operator, now, |_| Ok(()), duty).await {
            Err(Error::NotFound(_)) => self.leave_deleted(space, entity).await.map(|()| None),
            left => left,
        }
    }

    /// Removes an entity from a space in a caller's name, if `may` allows it for the roster at that
    /// moment. The entity is due until [`Members::finish_departure`] is called.
    pub async fn leave_if(
        self,
        space: SpaceId,
        entity: EntityId,
        by: Caller,
        now: Time,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        let duty = |roster: &Roster| duty_writes(space, entity, roster, now);
        self.leave_with(space, entity, by, now, may, duty).await
    }

    async fn leave_with(
        self,
        space: SpaceId,
        entity: EntityId,
        by: Caller,
        now: Time,
        may: impl Fn(&Roster) -> Result<()> + Send,
        duty: impl Fn(&Roster) -> Result<Vec<Write>> + Send,
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
            let admin_agent_id = record.settings.admin_agent_id.filter(|admin| *admin != entity);
            let settings = SpaceSettings { admin_agent_id, ..record.settings.clone() };
            let reported = Reported { space, roster: &roster, by, at: now };
            let line = reported.member(LineKind::Left, member.sender());
            let overview = SpaceOverview::of(&settings, others).after(Some(&line));
            let mut writes = roster_change(space, &roster, &overview)?;
            let is_last = roster.members.len() == 1;
            let loses_admin = settings != record.settings;
            let after = AfterLeaving { loses_admin, emptied_at: is_last.then_some(now) };
            writes.extend(after.write(self.store, space)?);
            writes.extend(move_to_past(space, member)?);
            // Only agents have this item. For a person, this deletes nothing.
            writes.push(Write::delete(keys::agent_space(entity, space)));
            writes.extend(duty(&roster)?);
            writes.push(line_write(space, &line)?);
            if self.change_roster(&writes).await?.is_none() {
                self.store.rosters.removed_at(space, roster.head.roster + 1);
                return Ok(Some(member.clone()));
            }
            tried = Some(member.clone());
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// The departure of an entity from a space, if something must still follow.
    pub async fn departure(self, space: SpaceId, entity: EntityId) -> Result<Option<Departure>> {
        self.store.table.get(&keys::departure(entity, space)).await
    }

    /// All departures of an entity after which something must still follow.
    pub async fn departures(self, entity: EntityId) -> Result<Vec<Departure>> {
        let query = Query::of(keys::entity(entity)).begins_with(keys::PARTING);
        self.store.table.all(query).await?.into_iter().map(read).collect()
    }

    /// Ends a departure, unless the entity has left the space once more since it was read.
    pub async fn finish_departure(self, entity: EntityId, departure: &Departure) -> Result<()> {
        let delete = Write::delete(keys::departure(entity, departure.space_id))
            .when("#roster = :roster")
            .value(":roster", departure.roster)?;
        self.store.table.write_where_it_holds(delete).await
    }

    /// Keeps a member of a deleted space among the former ones until the space is forgotten: its
    /// runs may have read it.
    pub async fn keep_as_former(self, space: SpaceId, member: &MemberRecord) -> Result<()> {
        let past = MemberRecord { g2pk: None, g2sk: None, ..member.clone() };
        let write = Write::put(keys::past_member(space, member.entity_id), &past)?;
        self.store.table.write_always(write).await
    }

    /// Removes an entity from a deleted space, which no longer has a roster.
    pub async fn leave_deleted(self, space: SpaceId, entity: EntityId) -> Result<()> {
        let member = Write::delete(keys::member(space, entity));
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
}

/// Stores that something must follow. The entity is due later than the request that removes it
/// needs for that. Its version is raised, so that a check that is under way does not end the duty.
fn duty_writes(space: SpaceId, entity: EntityId, roster: &Roster, now: Time) -> Result<Vec<Write>> {
    let due = Write::update(
        keys::entity_meta(entity),
        "SET #due = :due, #dueAt = :dueAt, #rev = #rev + :one REMOVE #settlesAt, #dueCount",
    )
    .when("attribute_exists(PK)")
    .value(":due", keys::due(entity.part_of(keys::DUE_PARTS)))?
    .value(":dueAt", now + due::QUEUED)?
    .value(":one", 1)?;
    Ok(vec![departure_write(space, entity, roster)?, due])
}

fn departure_write(space: SpaceId, entity: EntityId, roster: &Roster) -> Result<Write> {
    let departure = Departure { space_id: space, roster: roster.head.roster + 1 };
    Write::put(keys::departure(entity, space), &departure)
}
