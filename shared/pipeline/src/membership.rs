//! Joining and leaving a space, and the consequences: notifications, removed subscriptions, and
//! canceled runs.

use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::{Entity, EntityType},
    events::{Event, EventKind},
    ids::{EntityId, SpaceId},
    jobs::BroadcastJob,
    spaces::{Member, Role, ShownSettings, TriggerPolicy},
};
use smartspace_store::spaces::rosters::{MemberRecord, Roster};

use crate::{Pipeline, access::may_in, queue};

impl Pipeline {
    /// Adds an entity to a space. Does nothing if it is already a member.
    pub async fn join(&self, space: SpaceId, entity: &Entity, role: Role) -> Result<()> {
        if let Some(member) = self.store.members().join(space, entity, role, self.now()).await? {
            self.notify_joined(space, &member).await;
        }
        Ok(())
    }

    /// Adds many entities to a space. Does nothing for those that are already members.
    pub async fn join_many(
        &self,
        space_id: SpaceId,
        entities: &[Entity],
        role_of: impl Fn(EntityId) -> Role + Send + Sync,
    ) -> Result<()> {
        let now = self.now();
        let joined = self.store.members().join_many(space_id, entities, role_of, now).await?;
        let jobs = joined.iter().flat_map(|member| {
            let event = Event {
                space_id,
                at: now,
                what: EventKind::MemberJoined { member: member.view() },
            };
            [BroadcastJob::Joined { entity_id: member.entity_id, space_id }, event.into()]
        });
        queue(&*self.broadcasts, jobs.collect()).await;
        Ok(())
    }

    /// Adds an entity to a space on behalf of a caller, or changes its role. Without `role`, a
    /// member keeps its role and a new member gets `member`. The caller's rights are checked
    /// against the roster that the write is conditional on.
    pub async fn admit(
        &self,
        caller: Caller,
        space: SpaceId,
        entity: &Entity,
        role: Option<Role>,
    ) -> Result<Member> {
        let before = self.store.members().get(space, entity.id).await?;
        let may = |roster: &Roster| {
            may_in(roster, caller, SpaceAction::Govern)?;
            if role == Some(Role::Owner) && entity.guest_of.is_some() {
                return Err(Error::Forbidden("a guest can't be an owner".into()));
            }
            if roster.member(entity.id).is_none() { caller.may_bring_in(entity) } else { Ok(()) }
        };
        let now = self.now();
        let changed = self.store.members().join_if(space, entity, role, caller, now, may).await?;
        match (changed, before) {
            (None, Some(member)) => Ok(member.view()),
            // Another request added it meanwhile.
            (None, None) => {
                let member = self.store.members().get(space, entity.id).await?;
                member.map(|member| member.view()).ok_or_else(|| {
                    Error::Conflict("the entity left the space at the same time".into())
                })
            }
            (Some(member), None) => {
                self.notify_joined(space, &member).await;
                self.announce_lines(space, now).await;
                Ok(member.view())
            }
            (Some(member), Some(_)) => {
                let changed = Box::new(self.store.spaces().get(space).await?);
                self.announce(space, EventKind::SpaceUpdated { space: changed }).await;
                Ok(member.view())
            }
        }
    }

    /// Removes an entity from a space. Once this is stored, the entity can't write there and gets
    /// no more events.
    pub async fn leave(&self, space: SpaceId, entity: EntityId) -> Result<()> {
        let now = self.now();
        let left = self.store.members().leave(space, entity, now).await?;
        let has_left = left.is_some();
        let followed = self.follow_leaving(space, entity, left).await;
        if has_left {
            self.announce_lines(space, now).await;
        }
        followed
    }

    /// Like [`Self::leave`] on behalf of a caller: an owner, the operator, or the entity itself. An
    /// entity that has already left may repeat the request.
    pub async fn dismiss(&self, caller: Caller, space: SpaceId, entity: EntityId) -> Result<()> {
        let is_own = caller == Caller::Entity(entity);
        if is_own && self.store.members().former(space, entity).await?.is_some() {
            return self.follow_leaving(space, entity, None).await;
        }
        let action = if is_own { SpaceAction::Leave } else { SpaceAction::Govern };
        let now = self.now();
        let may = |roster: &Roster| may_in(roster, caller, action);
        let left = self.store.members().leave_if(space, entity, caller, now, may).await?;
        let followed = self.follow_leaving(space, entity, left.clone()).await;
        if left.is_some() {
            self.announce_lines(space, now).await;
        }
        // A guest must not stay because something else that follows has failed.
        match left {
            Some(left) => self.retire_former_guest(&left).await.and(followed),
            None => followed,
        }
    }

    pub(crate) async fn notify_joined(&self, space_id: SpaceId, member: &MemberRecord) {
        queue(
            &*self.broadcasts,
            vec![BroadcastJob::Joined { entity_id: member.entity_id, space_id }],
        )
        .await;
        self.announce(space_id, EventKind::MemberJoined { member: member.view() }).await;
    }

    async fn follow_leaving(
        &self,
        space_id: SpaceId,
        entity_id: EntityId,
        left: Option<MemberRecord>,
    ) -> Result<()> {
        let departure = self.store.members().departure(space_id, entity_id).await?;
        if let Some(left) = left {
            self.end_what_it_does(space_id, &left).await?;
            self.announce(space_id, EventKind::MemberLeft { entity_id }).await;
            if left.kind == EntityType::Agent {
                self.announce_missing_admin(space_id).await?;
            }
        } else if let Some(former) = self.store.members().former(space_id, entity_id).await? {
            // An earlier request may have stopped before this. The space is not notified again.
            self.end_what_it_does(space_id, &former).await?;
        } else if departure.is_some() {
            // It has come back. What it could do without asking must not come back with it.
            self.store.allowances().delete_all(entity_id, Some(space_id)).await?;
        }
        if let Some(departure) = departure {
            self.store.members().finish_departure(entity_id, &departure).await?;
        }
        Ok(())
    }

    /// Shows the settings of a space if its admin agent has left.
    async fn announce_missing_admin(&self, space_id: SpaceId) -> Result<()> {
        let space = match self.store.spaces().get(space_id).await {
            Ok(space) => space,
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let ShownSettings { trigger_policy, admin_agent_id, .. } = space.settings;
        if trigger_policy == TriggerPolicy::Admin && admin_agent_id.is_none() {
            self.announce(space_id, EventKind::SpaceUpdated { space: Box::new(space) }).await;
        }
        Ok(())
    }

    /// Finishes what must follow after an entity has left spaces, if the process that removed it
    /// did not get to that.
    pub(crate) async fn finish_departures(&self, entity_id: EntityId) -> Result<()> {
        for departure in self.store.members().departures(entity_id).await? {
            self.follow_leaving(departure.space_id, entity_id, None).await?;
        }
        Ok(())
    }

    /// Ends the runs, forms and subscriptions of a former member in a space, and deletes the files
    /// that it has not sent. It may be repeated.
    async fn end_what_it_does(&self, space_id: SpaceId, left: &MemberRecord) -> Result<()> {
        let entity_id = left.entity_id;
        if left.kind == EntityType::Agent {
            self.cancel_all(space_id, Some(entity_id)).await?;
            self.withdraw_forms(space_id, entity_id).await?;
            // No card is left on which a decision could make another allowance.
            self.store.allowances().delete_all(entity_id, Some(space_id)).await?;
        }
        self.show_presence_without_former(space_id).await;
        let jobs = [
            BroadcastJob::Removed { entity_id, space_id },
            BroadcastJob::Left { entity_id, space_id },
        ];
        queue(&*self.broadcasts, jobs.into()).await;
        self.delete_unsent(space_id, entity_id).await
    }
}
