//! Joining and leaving, and what follows: who is told, which connections go deaf, which runs end.

use smartspace_domain::{
    Result,
    entities::{Entity, EntityType},
    events::Happening,
    ids::{EntityId, SpaceId},
    jobs::BroadcastJob,
    spaces::Role,
};

use crate::{Pipeline, queue};

impl Pipeline {
    /// Adds an entity to a space. Nothing where it is there already.
    pub async fn join(&self, space: SpaceId, entity: &Entity, role: Role) -> Result<()> {
        if let Some(member) = self.store.join(space, entity, role, self.now()).await? {
            self.announce(space, Happening::MemberJoined { member: member.view() }).await;
        }
        Ok(())
    }

    /// Takes an entity out of a space. From the moment that this is kept it can't write there and is told nothing more.
    pub async fn leave(&self, space: SpaceId, entity: EntityId) -> Result<()> {
        let Some(member) = self.store.leave(space, entity).await? else { return Ok(()) };
        if member.kind == EntityType::Agent {
            self.cancel_all(space, Some(entity)).await?;
        }
        queue(&*self.broadcasts, vec![BroadcastJob::Removed { entity_id: entity, space_id: space }]).await;
        self.announce(space, Happening::MemberLeft { entity_id: entity }).await;
        Ok(())
    }
}
