//! Joining a space by an invite: the invite is used up together with the join.

use smartspace_domain::{Time, entities::Entity, spaces::Role};

use super::{has_room_for_a_member, join_writes, member_writes, new_member, no_such_entity};
use crate::{
    Error, Members, Result,
    entities::EntityRecord,
    invites::{GuestRecord, InviteRecord},
    spaces::{
        members::{TRIES, being_changed, name_is_free},
        rosters::MemberRecord,
    },
    table::{keys, write::Write},
};

/// How somebody who accepts an invite is a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It has joined, and the invite has one use less.
    Joined(MemberRecord),
    /// It was a member before, and the invite was not used.
    Member(MemberRecord),
}

impl Members<'_> {
    /// Adds an entity to the space of an invite, which loses a use in the same transaction. A
    /// `guest` is made by it, too. Who is a member already uses nothing.
    pub async fn join_by_invite(
        self,
        invite: &InviteRecord,
        entity: &Entity,
        guest: Option<&GuestRecord>,
        now: Time,
    ) -> Result<Accepted> {
        let space = invite.space_id;
        if entity.guest_of.is_some_and(|only| only != space) {
            return Err(Error::Forbidden("a guest may be in one space only".into()));
        }
        let invite_key = keys::invite(space, invite.id);
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_record(space).await?;
            if let Some(member) = roster.member(entity.id).cloned() {
                // Our own first try may have done it, if its answer was lost.
                let is_new = tries > 0;
                return Ok(if is_new {
                    Accepted::Joined(member)
                } else {
                    Accepted::Member(member)
                });
            }
            has_room_for_a_member(&roster)?;
            if guest.is_none() {
                self.has_room_for_a_space(entity).await?;
            }
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let member = MemberRecord {
                guest_by: guest.map(|_| invite.id),
                ..new_member(space, entity, Role::Member, roster.head.seq, now)
            };
            let mut writes = join_writes(space, &roster, &record, &member)?;
            writes.push(invite.use_once(now)?);
            match guest {
                None => writes.extend(member_writes(space, entity)?),
                Some(guest) => {
                    let made = EntityRecord::new(entity.clone());
                    writes.push(Write::put(keys::entity_meta(entity.id), &made)?.if_absent());
                    writes.push(Write::put(keys::guest(entity.id), guest)?);
                }
            }
            let Some(refusal) = self.change_roster(&writes).await? else {
                return Ok(Accepted::Joined(member));
            };
            if !refusal.names(&keys::space_head(space)) {
                if refusal.names(&invite_key) {
                    return Err(InviteRecord::unusable(refusal.existing(&invite_key)));
                }
                if refusal.names(&keys::entity_meta(entity.id)) {
                    return Err(match guest {
                        None => no_such_entity(entity.id),
                        Some(_) => Error::Conflict(
                            "the guest that this Idempotency-Key made has left; use another key"
                                .into(),
                        ),
                    });
                }
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }
}
