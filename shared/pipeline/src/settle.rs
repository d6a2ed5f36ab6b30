//! Finishes a change of an entity or a deletion of a space. Each step may be repeated, and is
//! repeated until it succeeds: the item stays due until then.

use std::time::Duration;

use smartspace_domain::{
    Error, Result,
    entities::EntityType,
    events::EventKind,
    ids::{EntityId, SpaceId},
    jobs::{BroadcastJob, TriggerJob},
};
use smartspace_store::{entities::EntityRecord, messages::Range};

use crate::{Pipeline, queue};

/// How many messages of a deleted space are removed at once, and how often in one job.
const PORTION: usize = 200;
const PORTIONS: usize = 20;

/// How long after one look at the runs that may have read a deleted space the next one follows.
const LOOKED_AGAIN_AFTER: Duration = Duration::from_secs(30);

/// How long after a change an entity is checked again. By then the index shows spaces that it
/// joined just before, and requests that add it under its old name have finished.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

impl Pipeline {
    /// Updates an entity's name and description in its spaces, or removes a retired entity from
    /// them. Ends what it did in spaces that it has left. The entity stays due until a later check
    /// finds nothing to do.
    pub async fn settle_entity(&self, id: EntityId) -> Result<()> {
        let began = self.now();
        let Some(record) = self.store.entities().any_record(id).await? else { return Ok(()) };
        if record.retired_at.is_some() {
            self.store.plans().delete_all(id).await?;
            self.store.allowances().delete_all(id, None).await?;
        }
        self.finish_departures(id).await?;
        let mut is_done = true;
        for space in self.unsettled(&record).await? {
            if record.retired_at.is_some() {
                self.leave(space, id).await?;
                is_done = false;
            } else {
                let now = self.now();
                match self.store.members().rename(space, &record.entity, now).await {
                    Ok(()) => {
                        is_done = false;
                        self.announce_lines(space, now).await;
                    }
                    // The name was taken in this space meanwhile, so the old one stays.
                    Err(Error::Conflict(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if record.retired_at.is_some() {
            // The runs that no space triggered are still active.
            self.cancel_all_of(id).await?;
        }
        match record.settles_at {
            Some(at) if is_done && began >= at => self.store.entities().settled(&record).await,
            // This check came too early.
            Some(_) if is_done => Ok(()),
            _ => {
                let again = self.now() + AGAIN_AFTER;
                if self.store.entities().settle_again(&record, again).await? {
                    self.alarms.set(again, TriggerJob::SettleEntity { entity_id: id }).await;
                }
                Ok(())
            }
        }
    }

    /// The spaces that do not have an entity's change yet. An agent's items list its spaces. For a
    /// person only an index does, which may be late.
    async fn unsettled(&self, record: &EntityRecord) -> Result<Vec<SpaceId>> {
        let id = record.entity.id;
        let spaces = match record.entity.agent {
            Some(_) => self.store.agent_state().spaces(id).await?,
            None => self.store.entities().spaces_of(id).await?,
        };
        let mut unsettled = Vec::new();
        for space in spaces {
            let member = self.store.members().get(space, id).await?;
            let is_settled = member.is_none_or(|member| {
                record.retired_at.is_none() && member.describes(&record.entity)
            });
            if !is_settled {
                unsettled.push(space);
            }
        }
        Ok(unsettled)
    }

    /// Deletes a space. It is gone for everyone at once; a job removes its items.
    pub async fn delete_space(&self, id: SpaceId) -> Result<()> {
        self.store.spaces().delete(id, &self.token(), self.now()).await?;
        self.announce(id, EventKind::SpaceDeleted).await;
        // Through the queue, so that followers are notified before their subscriptions are removed.
        // The space stays due until then.
        self.queue_triggers(vec![TriggerJob::SettleSpace { space_id: id }]).await;
        Ok(())
    }

    /// Ends a space whose last member has left long enough ago. Returns whether the space is
    /// deleted.
    async fn is_over(&self, id: SpaceId) -> Result<bool> {
        let record = self.store.spaces().any_record(id).await?;
        // A space without its item may have other items left.
        let Some(record) = record.filter(|record| !record.deleted) else { return Ok(true) };
        let ended = self.store.spaces().end_empty(&record, &self.token(), self.now()).await?;
        if ended {
            self.announce(id, EventKind::SpaceDeleted).await;
        }
        Ok(ended)
    }

    /// Removes the items of a deleted space: cancels its runs, deletes its messages, removes its
    /// members. A space with very many messages takes several jobs, because a function's time and
    /// memory are limited. A space without members is deleted first, if its time has come.
    pub async fn settle_space(&self, id: SpaceId) -> Result<()> {
        if !self.is_over(id).await? {
            return Ok(());
        }
        self.cancel_all(id, None).await?;
        for _ in 0..PORTIONS {
            let messages = self.store.messages().records(id, Range::After(0), PORTION).await?;
            if messages.is_empty() {
                return self.settle_empty_space(id).await;
            }
            self.drop_forms(&messages).await?;
            self.store
                .spaces()
                .clear_messages(id, &messages.iter().map(|message| message.seq).collect::<Vec<_>>())
                .await?;
        }
        self.go_on_settling(id).await
    }

    async fn settle_empty_space(&self, id: SpaceId) -> Result<()> {
        let members = self.store.spaces().members_left(id).await?;
        queue(
            &*self.broadcasts,
            members
                .iter()
                .map(|member| BroadcastJob::Left { entity_id: member.entity_id, space_id: id })
                .collect(),
        )
        .await;
        for member in members {
            // The runs that the index did not show yet.
            self.cancel_all(id, Some(member.entity_id)).await?;
            if member.kind == EntityType::Agent {
                self.store.allowances().delete_all(member.entity_id, Some(id)).await?;
            }
            self.store.members().keep_as_former(id, &member).await?;
            self.store.members().leave_deleted(id, member.entity_id).await?;
            Box::pin(self.retire_former_guest(&member)).await?;
        }
        if !self.clear_files(id).await? {
            return self.go_on_settling(id).await;
        }
        // Its former members are among what is deleted afterwards.
        if !Box::pin(self.forget_space(id)).await? {
            return self.settle_later(id).await;
        }
        if self.store.spaces().clear(id, PORTION * PORTIONS).await? {
            Ok(())
        } else {
            self.go_on_settling(id).await
        }
    }

    /// Goes on when runs that are at work may have ended.
    async fn settle_later(&self, id: SpaceId) -> Result<()> {
        self.store.spaces().continue_clearing(id, self.now()).await?;
        let then = self.now() + LOOKED_AGAIN_AFTER;
        self.alarms.set(then, TriggerJob::SettleSpace { space_id: id }).await;
        Ok(())
    }

    async fn go_on_settling(&self, id: SpaceId) -> Result<()> {
        self.store.spaces().continue_clearing(id, self.now()).await?;
        self.queue_triggers(vec![TriggerJob::SettleSpace { space_id: id }]).await;
        Ok(())
    }
}
