//! Posts a message: stores it, queues the runs that it woke, and notifies the space's followers.

use futures::join;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::EntityType,
    events::EventKind,
    ids::AttachmentId,
    jobs::{RunJob, TriggerJob},
    quota::Cause,
};
use smartspace_store::messages::append::{Appended, MessageSource, NewMessage};

use crate::Pipeline;

impl Pipeline {
    /// Stores a message and queues the jobs that follow from it. Succeeds once the message is
    /// stored, even if queueing fails.
    pub async fn post(&self, new: &NewMessage) -> Result<Appended> {
        let mut appended = self.store.messages().append(new, self.now()).await?;
        if appended.repeated {
            return Ok(appended);
        }
        let message = &appended.message;
        let undecided = message
            .dispatch
            .is_none()
            .then_some(TriggerJob::Dispatch { space_id: message.space_id, seq: message.seq });
        // Queue the runs first: it matters more that an agent starts early than that the message
        // appears early.
        self.queue_runs(RunJob::together(std::mem::take(&mut appended.triggered))).await;
        self.queue_triggers(undecided.into_iter().collect()).await;
        for run in &appended.superseded {
            self.follow_ended(run).await;
        }
        let cause = Cause::member(message.sender.id, message.sender.kind == EntityType::Human);
        let counted = self.store.quota().count_runs(&appended.taken, &cause, message.created_at);
        join!(
            counted,
            self.announce(message.space_id, EventKind::MessageCreated { message: message.clone() })
        );
        let queued = std::mem::take(&mut appended.queued);
        let never_started = std::mem::take(&mut appended.never_started);
        self.announce_waiting(queued, never_started).await;
        Ok(appended)
    }

    /// Like [`Self::post`], with the files that the message names, for a caller of the HTTP or
    /// WebSocket API. The transaction itself checks that the sender is a member. Only if it fails,
    /// the caller's rights are checked, so that the error does not reveal a space to a stranger.
    pub async fn post_as(
        &self,
        caller: Caller,
        new: NewMessage,
        files: &[AttachmentId],
    ) -> Result<Appended> {
        let new = if files.is_empty() {
            new
        } else {
            // A repeated request gets the same answer, whatever has become of its sender since.
            if let MessageSource::External { key: Some(key), .. } = &new.by
                && let Some(posted) =
                    self.store.messages().repeated(new.space, key, self.now()).await?
            {
                return Ok(posted);
            }
            self.authorise(caller, SpaceAction::Post, new.space).await?;
            NewMessage { files: self.files_named(new.space, files).await?, ..new }
        };
        match self.post(&new).await {
            Err(error @ (Error::Invalid(_) | Error::NotAMember)) => {
                self.authorise(caller, SpaceAction::Post, new.space).await?;
                Err(error)
            }
            posted => posted,
        }
    }
}
