//! Joining and leaving, and what follows: who is told, which connections go deaf, which runs end.

use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::{Entity, EntityType},
    events::Happening,
    ids::{EntityId, SpaceId},
    jobs::BroadcastJob,
    spaces::{Member, Role},
};
use smartspace_store::rosters::MemberRecord;

use crate::{Pipeline, access::may_in, queue};

impl Pipeline {
    /// Adds an entity to a space. Nothing where it is there already.
    pub async fn join(&self, space: SpaceId, entity: &Entity, role: Role) -> Result<()> {
        if let Some(member) = self.store.join(space, entity, role, self.now()).await? {
            self.tell_of_joining(space, &member).await;
        }
        Ok(())
    }

    /// Adds an entity to a space on behalf of a caller, or changes its role there; without `role` it keeps the one that it has, and a new member
    /// is a plain one. What the caller may do is decided in the space as it is when this is kept.
    pub async fn admit(&self, caller: Caller, space: SpaceId, entity: &Entity, role: Option<Role>) -> Result<Member> {
        let before = self.store.member(space, entity.id).await?;
        let may = |roster: &smartspace_store::rosters::Roster| {
            may_in(roster, caller, SpaceAction::Govern)?;
            if roster.member(entity.id).is_none() { caller.may_bring_in(entity) } else { Ok(()) }
        };
        let changed = self.store.join_if(space, entity, role, self.now(), may).await?;
        match (changed, before) {
            (None, Some(member)) => Ok(member.view()),
            // Someone else added it meanwhile.
            (None, None) => {
                let member = self.store.member(space, entity.id).await?;
                member.map(|member| member.view()).ok_or_else(|| Error::Conflict("it left again at the same time".into()))
            }
            (Some(member), None) => {
                self.tell_of_joining(space, &member).await;
                Ok(member.view())
            }
            (Some(member), Some(_)) => {
                let changed = Box::new(self.store.space(space).await?);
                self.announce(space, Happening::SpaceUpdated { space: changed }).await;
                Ok(member.view())
            }
        }
    }

    /// Takes an entity out of a space. From the moment that this is kept it can't write there and is told nothing more.
    pub async fn leave(&self, space: SpaceId, entity: EntityId) -> Result<()> {
        let left = self.store.leave(space, entity).await?;
        self.follow_leaving(space, entity, left).await
    }

    /// The same on behalf of a caller: an owner, the operator, or the entity itself, which may repeat it as a stranger.
    pub async fn dismiss(&self, caller: Caller, space: SpaceId, entity: EntityId) -> Result<()> {
        let is_own = caller == Caller::Entity(entity);
        if is_own && let Some(former) = self.store.former_member(space, entity).await? {
            return self.end_what_it_does(space, &former).await;
        }
        let action = if is_own { SpaceAction::Leave } else { SpaceAction::Govern };
        let left = self.store.leave_if(space, entity, |roster| may_in(roster, caller, action)).await?;
        self.follow_leaving(space, entity, left).await
    }

    async fn tell_of_joining(&self, space_id: SpaceId, member: &MemberRecord) {
        queue(&*self.broadcasts, vec![BroadcastJob::Joined { entity_id: member.entity_id, space_id }]).await;
        self.announce(space_id, Happening::MemberJoined { member: member.view() }).await;
    }

    async fn follow_leaving(&self, space_id: SpaceId, entity_id: EntityId, left: Option<MemberRecord>) -> Result<()> {
        if let Some(left) = left {
            self.end_what_it_does(space_id, &left).await?;
            self.announce(space_id, Happening::MemberLeft { entity_id }).await;
        } else if let Some(former) = self.store.former_member(space_id, entity_id).await? {
            // Whoever took it out before may not have come to this. The space is told nothing, however often it is repeated.
            self.end_what_it_does(space_id, &former).await?;
        }
        Ok(())
    }

    /// The runs, forms and subscriptions in a space of who has left it; may be repeated.
    async fn end_what_it_does(&self, space_id: SpaceId, left: &MemberRecord) -> Result<()> {
        let entity_id = left.entity_id;
        if left.kind == EntityType::Agent {
            self.cancel_all(space_id, Some(entity_id)).await?;
            self.withdraw_forms(space_id, entity_id).await?;
        }
        let told = [BroadcastJob::Removed { entity_id, space_id }, BroadcastJob::Left { entity_id, space_id }];
        queue(&*self.broadcasts, told.into()).await;
        Ok(())
    }
}
