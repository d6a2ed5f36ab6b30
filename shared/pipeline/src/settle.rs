//! What a change of an entity or a space leaves to be done. Each may be repeated, and is until it is done: the item stays due.

use smartspace_domain::{
    Error, Result,
    events::Happening,
    ids::{EntityId, SpaceId},
    jobs::{BroadcastJob, TriggerJob},
};

use crate::{Pipeline, queue};

impl Pipeline {
    /// Brings an entity's new name to its spaces; a retired one leaves them.
    pub async fn settle_entity(&self, id: EntityId) -> Result<()> {
        let Some(record) = self.store.any_entity(id).await? else { return Ok(()) };
        for space in self.store.spaces_of(id).await? {
            if record.retired_at.is_some() {
                self.leave(space, id).await?;
            } else {
                match self.store.rename_member(space, &record.entity).await {
                    // Its name was taken there meanwhile: it keeps the old one in that space.
                    Ok(()) | Err(Error::Conflict(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        self.store.entity_settled(id, record.rev).await
    }

    /// Deletes a space: it is gone for everyone at once, and what is left of it is removed.
    pub async fn delete_space(&self, id: SpaceId) -> Result<()> {
        self.store.delete_space(id, self.now()).await?;
        self.announce(id, Happening::SpaceDeleted).await;
        // By way of the queue, so that who follows the space is told before its subscriptions are removed. The space stays due until then.
        self.queue_triggers(vec![TriggerJob::SettleSpace { space_id: id }]).await;
        Ok(())
    }

    /// Removes what is left of a deleted space: its runs end, its members leave, its messages go.
    pub async fn settle_space(&self, id: SpaceId) -> Result<()> {
        self.cancel_all(id, None).await?;
        self.drop_forms(id).await?;
        let members = self.store.members_left(id).await?;
        queue(&*self.broadcasts, members.iter().map(|member| BroadcastJob::Left { entity_id: *member, space_id: id }).collect()).await;
        for member in members {
            self.store.leave_deleted(id, member).await?;
        }
        self.store.clear_space(id).await
    }
}
