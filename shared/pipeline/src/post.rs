//! Posts a message: stores it, queues the runs that it triggered, and notifies the space's
//! followers.

use futures::join;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::EntityType,
    events::EventKind,
    ids::AttachmentId,
    jobs::{BroadcastJob, RunJob, TriggerJob},
    quota::QuotaUser,
};
use smartspace_store::messages::append::{Appended, NewMessage};

use crate::{Pipeline, queue};

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
        let user = QuotaUser::member(message.sender.id, message.sender.kind == EntityType::Human);
        let counted = self.store.quota().count_runs(&appended.taken, &user, message.created_at);
        let created = EventKind::MessageCreated { message: message.clone() };
        let space_id = message.space_id;
        let activity = appended.moves_space.then_some(BroadcastJob::Activity { space_id });
        let event = BroadcastJob::from(self.event(space_id, created));
        let jobs = [event].into_iter().chain(activity).collect();
        join!(counted, queue(&*self.broadcasts, jobs));
        let queued = std::mem::take(&mut appended.queued);
        let never_started = std::mem::take(&mut appended.never_started);
        self.announce_waiting(queued, never_started).await;
        Ok(appended)
    }

    /// Like [`Self::post`], with the files that the message names, for a caller of the HTTP or
    /// WebSocket API. The append checks that the sender is a member. An entity that is not one
    /// learns only that there is no such space.
    pub async fn post_as(
        &self,
        caller: Caller,
        new: NewMessage,
        files: &[AttachmentId],
    ) -> Result<Appended> {
        let posted = match self.files_named(new.space, files).await {
            Ok(files) => self.post(&NewMessage { files, ..new }).await,
            // The files are checked last: a repeated request gets the same answer whatever has
            // become of them, and a stranger learns nothing of the files of a space.
            Err(error) => match self.store.messages().repeated_by(&new, self.now()).await {
                Ok(repeated) => repeated.ok_or(error),
                Err(earlier) => Err(earlier),
            },
        };
        match posted {
            Err(Error::NotAMember) => {
                // An entity speaks only for itself, so the sender is the caller.
                caller.may_in_space(SpaceAction::Post, None)?;
                Err(Error::NotAMember)
            }
            posted => posted,
        }
    }
}
