//! Invites: revoking them, and joining a space by one.

use smartspace_domain::{
    Error, Result, Time,
    access::{Caller, SpaceAction},
    entities::{Entity, EntityType},
    ids::{EntityId, InviteId, SpaceId},
    invites::GuestToken,
    names::Name,
};
use smartspace_store::{
    invites::{GuestRecord, InviteRecord, NewGuest},
    spaces::{members::Accepted, rosters::MemberRecord},
};

use crate::Pipeline;

/// How often retiring a guest is tried while others change it.
const RETIRED_WITHIN: u32 = 5;

impl Pipeline {
    /// Revokes an invite on behalf of a caller. The guests who came by it are retired: the invite
    /// is all that let them in. A member that accepted it with an account stays. The call may be
    /// repeated.
    pub async fn revoke_invite(&self, caller: Caller, space: SpaceId, id: InviteId) -> Result<()> {
        self.authorise(caller, SpaceAction::Govern, space).await?;
        self.store.invites().revoke(space, id).await?;
        // Nobody joins by it any longer, so this roster has all of its guests.
        let roster = self.store.members().roster(space).await?;
        let mut done = Ok(());
        for guest in roster.members.iter().filter(|member| member.guest_by == Some(id)) {
            // One guest who can't be removed keeps no other one in.
            done = done.and(self.remove_guest(space, guest.entity_id).await);
        }
        done
    }

    async fn remove_guest(&self, space: SpaceId, guest: EntityId) -> Result<()> {
        let left = self.leave(space, guest).await;
        self.retire_guest(guest).await.and(left)
    }

    /// Lets an entity join the space of an invite that can be used. One that is a member already
    /// uses nothing.
    pub async fn accept_invite(&self, invite: &InviteRecord, entity: EntityId) -> Result<()> {
        let entity = self.store.entities().get(entity).await?;
        if entity.kind == EntityType::Agent {
            return Err(Error::Forbidden(
                "agents do not accept invites; an owner adds them".into(),
            ));
        }
        let members = self.store.members();
        let accepted = members.join_by_invite(invite, &entity, None, self.now()).await?;
        self.follow_acceptance(invite.space_id, &accepted).await;
        Ok(())
    }

    /// Makes a guest who joins the space of an invite that can be used. The same token gives the
    /// same guest. Returns when the token ends, unless it is used before.
    pub async fn welcome_guest(
        &self,
        invite: &InviteRecord,
        token: &GuestToken,
        name: Option<&str>,
    ) -> Result<Time> {
        let now = self.now();
        if let Some(name) = name {
            Name::check(name).map_err(|error| error.at("/name"))?;
        }
        let entity = Entity {
            revision: None,
            id: token.guest,
            kind: EntityType::Human,
            name: name.unwrap_or_default().to_owned(),
            external_id: None,
            created_at: now,
            agent: None,
            managed_by: None,
            guest_of: Some(token.space),
        };
        let record = GuestRecord::new(token, invite.id, now);
        let guest = NewGuest { record, is_nameless: name.is_none() };
        let members = self.store.members();
        let accepted = members.join_by_invite(invite, &entity, Some(&guest), now).await?;
        if self.follow_acceptance(invite.space_id, &accepted).await {
            return Ok(guest.record.until());
        }
        // The request is a repeat, and the guest may have been here for a while.
        let known = self.store.invites().guest(token, now).await?;
        known.map(|guest| guest.until).ok_or_else(ended)
    }

    /// Notifies the space of somebody who has joined. Returns false for who was a member before.
    async fn follow_acceptance(&self, space: SpaceId, accepted: &Accepted) -> bool {
        match accepted {
            Accepted::Member(_) => false,
            Accepted::Joined(member) => {
                self.notify_joined(space, member).await;
                self.announce_lines(space, member.joined_at).await;
                true
            }
        }
    }

    /// Retires a guest who has left its space: it is nowhere else.
    pub(crate) async fn retire_former_guest(&self, left: &MemberRecord) -> Result<()> {
        if left.guest_by.is_some() { self.retire_guest(left.entity_id).await } else { Ok(()) }
    }

    async fn retire_guest(&self, guest: EntityId) -> Result<()> {
        for _ in 0..RETIRED_WITHIN {
            let retired = match self.store.entities().record(guest).await {
                Ok(record) => self.store.entities().retire(&record, self.now()).await,
                Err(error) => Err(error),
            };
            match retired {
                Ok(()) => return Box::pin(self.settle_entity(guest)).await,
                // Another request has retired it.
                Err(Error::NotFound(_)) => return Ok(()),
                // The operator has just changed it.
                Err(Error::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Retry("a guest was changed again and again; repeat the call".into()))
    }
}

/// The answer to a repeated request whose guest is no longer there.
fn ended() -> Error {
    Error::Conflict(
        "the access of the guest that this Idempotency-Key made has ended; use another key".into(),
    )
}
