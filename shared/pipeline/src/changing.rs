//! Edits and deletes messages.

use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    events::EventKind,
    ids::{EntityId, SpaceId},
    jobs::{BroadcastJob, TriggerJob},
    messages::Message,
};
use smartspace_store::messages::changing::{Changed, MessageChange, NewState};

use crate::{Pipeline, queue};

impl Pipeline {
    /// Gives a message of `editor` another text, for a caller of the API. An entity that is not a
    /// member learns only that there is no such space.
    pub async fn edit_message(
        &self,
        caller: Caller,
        (space, seq): (SpaceId, u64),
        editor: EntityId,
        text: &str,
        rev: Option<u64>,
    ) -> Result<Message> {
        let to = NewState::Edited { editor, text, rev };
        let change = MessageChange { space, seq, to, by: None };
        match self.change_message(&change).await {
            Err(Error::NotAMember) => {
                // An entity edits only for itself, so the editor is the caller.
                caller.may_in_space(SpaceAction::Post, None)?;
                Err(Error::NotAMember)
            }
            changed => Ok(changed?.message),
        }
    }

    /// Deletes a message. May be repeated.
    pub async fn delete_message(&self, caller: Caller, space: SpaceId, seq: u64) -> Result<()> {
        let to = NewState::Deleted { caller };
        self.change_message(&MessageChange { space, seq, to, by: None }).await?;
        Ok(())
    }

    /// Edits or deletes a message, and notifies the followers of its space. A deletion also cancels
    /// the runs that the message has triggered, and queues the job that removes what is stored of
    /// it elsewhere. If the process dies before that, the tombstone is due.
    pub async fn change_message(&self, change: &MessageChange<'_>) -> Result<Changed> {
        let changed = Box::pin(self.store.messages().change(change, self.now())).await?;
        if !changed.is_new {
            return Ok(changed);
        }
        let message = changed.message.clone();
        self.announce(change.space, EventKind::MessageUpdated { message }).await;
        if changed.is_last {
            // Lists of spaces show it.
            queue(&*self.broadcasts, vec![BroadcastJob::Activity { space_id: change.space }]).await;
        }
        if changed.is_unpinned
            && let Err(error) = self.announce_pins(change.space).await
        {
            tracing::warn!(space = %change.space, %error, "followers still see a pin");
        }
        if changed.message.deleted.is_some() {
            // The job does the rest again.
            let forget = TriggerJob::ForgetMessage { space_id: change.space, seq: change.seq };
            self.queue_triggers(vec![forget]).await;
            if let Err(error) = self.cancel_all_of_deleted(&changed.message).await {
                let (space, seq) = (change.space, change.seq);
                tracing::warn!(%space, seq, %error, "the runs of a deleted message still work");
            }
        }
        Ok(changed)
    }

    /// Does what follows from the deletion of a message, if the process that deleted it has died:
    /// the job that forgets the message begins with this. May be repeated.
    pub async fn follow_deletion(&self, space: SpaceId, seq: u64) -> Result<()> {
        let Some(record) = self.store.messages().record(space, seq).await? else { return Ok(()) };
        if record.deleted.is_none() {
            return Ok(());
        }
        let is_late = record.due_count.is_some();
        let message = self.store.messages().with_long_texts(space, vec![record]).await?.pop();
        let Some(message) = message else { return Ok(()) };
        if is_late {
            let message = message.clone();
            self.announce(space, EventKind::MessageUpdated { message }).await;
        }
        self.cancel_all_of_deleted(&message).await
    }
}
