//! A message: kept, then its runs are queued, then everyone who follows the space is told.

use futures::join;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::EntityType,
    events::Happening,
    jobs::TriggerJob,
    shares::Cause,
};
use smartspace_store::append::{Appended, NewMessage};

use crate::Pipeline;

impl Pipeline {
    /// Keeps a message and queues what follows from it. Once it is kept the answer is yes, whether or not queueing worked.
    pub async fn post(&self, new: &NewMessage) -> Result<Appended> {
        let mut appended = self.store.append(new, self.now()).await?;
        if appended.repeated {
            return Ok(appended);
        }
        let message = &appended.message;
        let undecided = message.dispatch.is_none().then_some(TriggerJob::Dispatch { space_id: message.space_id, seq: message.seq });
        // The runs first: an agent that begins to think sooner is worth more than a line that shows sooner.
        self.queue_runs(std::mem::take(&mut appended.woken)).await;
        self.queue_triggers(undecided.into_iter().collect()).await;
        let cause = Cause::member(message.sender.id, message.sender.kind == EntityType::Human);
        let counted = self.store.count_runs(&appended.taken, &cause, message.created_at);
        join!(counted, self.announce(message.space_id, Happening::MessageCreated { message: message.clone() }));
        Ok(appended)
    }

    /// The same for who came through a door. That it is a member is read with everything else, and checked in the transaction: only where that fails is it asked
    /// what the caller may be told.
    pub async fn post_as(&self, caller: Caller, new: &NewMessage) -> Result<Appended> {
        match self.post(new).await {
            Err(error @ Error::Invalid(_)) => {
                self.authorise(caller, SpaceAction::Post, new.space).await?;
                Err(error)
            }
            posted => posted,
        }
    }
}
