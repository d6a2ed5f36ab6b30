//! Joining a space by an invite: the invite is used up together with the join.

use smartspace_domain::{
    Time, access::Caller, entities::Entity, spaces::Role, system_lines::LineKind,
};

use super::{has_room_for_a_member, join_writes, member_writes, new_member, no_such_entity};
use crate::{
    Error, Members, Result,
    entities::EntityRecord,
    invites::{GuestRecord, InviteRecord, NewGuest, no_such_invite},
    spaces::{
        lines::Reported,
        members::{TRIES, being_changed, name_is_free, names::guest_name},
        rosters::{MemberRecord, Roster},
    },
    table::{keys, refusal::Refusal, write::Write},
};

/// The membership of an entity that has accepted an invite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It has joined, and the invite has one use less.
    Joined(MemberRecord),
    /// It was a member before, and the invite was not used.
    Member(MemberRecord),
}

impl Members<'_> {
    /// Adds an entity to the space of an invite, which loses a use in the same transaction. The
    /// transaction also makes the `guest`, who gets a name if it gives none. An entity that is a
    /// member already uses nothing.
    pub async fn join_by_invite(
        self,
        invite: &InviteRecord,
        entity: &Entity,
        guest: Option<&NewGuest>,
        now: Time,
    ) -> Result<Accepted> {
        let space = invite.space_id;
        if entity.guest_of.is_some_and(|only| only != space) {
            return Err(Error::Forbidden("a guest may be in one space only".into()));
        }
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_record(space).await?;
            if let Some(member) = roster.member(entity.id).cloned() {
                // In a later try, our own first try may have done it and its answer was lost.
                let accepted = if tries > 0 { Accepted::Joined } else { Accepted::Member };
                return Ok(accepted(member));
            }
            if invite.has_lost_its_maker(invite.created_by.and_then(|it| roster.member(it))) {
                return Err(no_such_invite());
            }
            has_room_for_a_member(&roster)?;
            if guest.is_none() {
                self.has_room_for_a_space(entity).await?;
            }
            let entity = &match guest {
                Some(guest) => guest_in(&roster, entity, guest)?,
                None => entity.clone(),
            };
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let member = MemberRecord {
                guest_by: guest.map(|_| invite.id),
                ..new_member(space, entity, Role::Member, roster.head.seq, now)
            };
            let by = Caller::Entity(entity.id);
            let reported = Reported { space, roster: &roster, by, at: now };
            let line = reported.member(LineKind::Joined, member.sender());
            let mut writes = join_writes(space, &roster, &record, &member, Some(&line))?;
            writes.push(invite.use_once(now)?);
            match guest {
                None => writes.extend(member_writes(space, entity)?),
                Some(guest) => writes.extend(guest_writes(entity, &guest.record)?),
            }
            let Some(refusal) = self.change_roster(&writes).await? else {
                return Ok(Accepted::Joined(member));
            };
            if !refusal.names(&keys::space_head(space)) {
                expect_retry(invite, entity, guest.is_some(), &refusal)?;
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }
}

fn guest_in(roster: &Roster, entity: &Entity, guest: &NewGuest) -> Result<Entity> {
    let name = Some(entity.name.as_str()).filter(|_| !guest.is_nameless);
    Ok(Entity { name: guest_name(roster, entity.id, name)?, ..entity.clone() })
}

/// The writes that make a guest, who has no items yet.
fn guest_writes(entity: &Entity, guest: &GuestRecord) -> Result<[Write; 2]> {
    let made = EntityRecord::new(entity.clone());
    Ok([
        Write::put(keys::entity_meta(entity.id), &made)?.if_absent(),
        Write::put(keys::guest(entity.id), guest)?,
    ])
}

/// Fails if the refusal is final: the invite can't be used, or the entity can't join.
fn expect_retry(
    invite: &InviteRecord,
    entity: &Entity,
    is_guest: bool,
    refusal: &Refusal,
) -> Result<()> {
    let invite_key = keys::invite(invite.space_id, invite.id);
    if refusal.names(&invite_key) {
        return Err(InviteRecord::unusable(refusal.existing(&invite_key)));
    }
    if !refusal.names(&keys::entity_meta(entity.id)) {
        return Ok(());
    }
    if is_guest {
        return Err(Error::Conflict(
            "the guest that this Idempotency-Key made has left; use another key".into(),
        ));
    }
    Err(no_such_entity(entity.id))
}
