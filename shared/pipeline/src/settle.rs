//! What a change of an entity or a space leaves to be done. Each may be repeated, and is until it is done: the item stays due.

use std::time::Duration;

use smartspace_domain::{
    Error, Result,
    events::Happening,
    ids::{EntityId, SpaceId},
    jobs::{BroadcastJob, TriggerJob},
};
use smartspace_store::{entities::EntityRecord, messages::Range};

use crate::{Pipeline, queue};

/// Messages of a deleted space that are removed at once, and how often in one job.
const PORTION: usize = 200;
const PORTIONS: usize = 20;

/// When an entity is looked at once more after something was done: an index shows by then who joined a space just before, and whoever let it in
/// under its old name has done so.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

impl Pipeline {
    /// Brings an entity's new name to its spaces; a retired one leaves them. It stays due until a later look finds nothing left to do.
    pub async fn settle_entity(&self, id: EntityId) -> Result<()> {
        let began = self.now();
        let Some(record) = self.store.any_entity(id).await? else { return Ok(()) };
        if record.retired_at.is_some() {
            self.store.drop_plans(id).await?;
        }
        let mut is_done = true;
        for space in self.unsettled(&record).await? {
            if record.retired_at.is_some() {
                self.leave(space, id).await?;
                is_done = false;
            } else {
                match self.store.rename_member(space, &record.entity).await {
                    Ok(()) => is_done = false,
                    // Its name was taken there meanwhile: it keeps the old one in that space.
                    Err(Error::Conflict(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if record.retired_at.is_some() {
            // Those that no space woke are left.
            self.cancel_all_of(id).await?;
        }
        match record.settles_at {
            Some(at) if is_done && began >= at => self.store.entity_settled(&record).await,
            // This look came before its time.
            Some(_) if is_done => Ok(()),
            _ => {
                let again = self.now() + AGAIN_AFTER;
                if self.store.settle_again(&record, again).await? {
                    self.alarms.set(again, TriggerJob::SettleEntity { entity_id: id }).await;
                }
                Ok(())
            }
        }
    }

    /// The spaces that do not know yet what became of an entity. Where an agent is stands in its own items; where a person is only an index says, which may
    /// be late.
    async fn unsettled(&self, record: &EntityRecord) -> Result<Vec<SpaceId>> {
        let id = record.entity.id;
        let spaces = match record.entity.agent {
            Some(_) => self.store.agent_context(id).await?.spaces,
            None => self.store.spaces_of(id).await?,
        };
        let mut unsettled = Vec::new();
        for space in spaces {
            let member = self.store.member(space, id).await?;
            let knows = member.is_none_or(|member| record.retired_at.is_none() && member.name == record.entity.name);
            if !knows {
                unsettled.push(space);
            }
        }
        Ok(unsettled)
    }

    /// Deletes a space: it is gone for everyone at once, and what is left of it is removed.
    pub async fn delete_space(&self, id: SpaceId) -> Result<()> {
        self.store.delete_space(id, &self.token(), self.now()).await?;
        self.announce(id, Happening::SpaceDeleted).await;
        // By way of the queue, so that who follows the space is told before its subscriptions are removed. The space stays due until then.
        self.queue_triggers(vec![TriggerJob::SettleSpace { space_id: id }]).await;
        Ok(())
    }

    /// Removes what is left of a deleted space: its runs end, its messages go, its members leave. One with very many messages takes several jobs: a function's
    /// time and memory are bounded.
    pub async fn settle_space(&self, id: SpaceId) -> Result<()> {
        self.cancel_all(id, None).await?;
        for _ in 0..PORTIONS {
            let messages = self.store.message_records(id, Range::After(0), PORTION).await?;
            if messages.is_empty() {
                return self.settle_empty_space(id).await;
            }
            self.drop_forms(&messages).await?;
            self.store.clear_messages(id, &messages.iter().map(|message| message.seq).collect::<Vec<_>>()).await?;
        }
        self.go_on_settling(id).await
    }

    async fn settle_empty_space(&self, id: SpaceId) -> Result<()> {
        let members = self.store.members_left(id).await?;
        queue(&*self.broadcasts, members.iter().map(|member| BroadcastJob::Left { entity_id: *member, space_id: id }).collect()).await;
        for member in members {
            // Those that the index did not show yet.
            self.cancel_all(id, Some(member)).await?;
            self.store.leave_deleted(id, member).await?;
        }
        if self.store.clear_space(id, PORTION * PORTIONS).await? { Ok(()) } else { self.go_on_settling(id).await }
    }

    async fn go_on_settling(&self, id: SpaceId) -> Result<()> {
        self.store.go_on_clearing(id, self.now()).await?;
        self.queue_triggers(vec![TriggerJob::SettleSpace { space_id: id }]).await;
        Ok(())
    }
}
