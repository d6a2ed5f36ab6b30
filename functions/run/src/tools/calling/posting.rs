//! Posting a message for a call.

use smartspace_domain::{
    Error, Result,
    ids::{MessageId, SpaceId},
};
use smartspace_store::{
    messages::append::{Appended, Content, MessageSource, NewMessage},
    runs::steps::CallRecord,
};

use crate::tools::calling::Calling;

/// A message that a call has posted.
pub(crate) struct PostedMessage {
    pub(crate) appended: Appended,
    /// The run has read the space up to the message. `None` if others wrote in between.
    pub(crate) mark: Option<(SpaceId, u64)>,
}

impl Calling<'_> {
    /// Posts a message. The message, the record of the call and the check of the lease are one
    /// transaction. `None` if the agent is not a member of the space, or the space was deleted.
    /// Fails with [`Error::TooMany`] if the space accepts no further message in this second. Then
    /// nothing is stored, and the loop makes the call again.
    pub(crate) async fn post(
        &self,
        space: SpaceId,
        content: Content,
        record: CallRecord,
    ) -> Result<Option<PostedMessage>> {
        let context = self.context;
        let new = NewMessage {
            id: MessageId::of_call(self.begun.call_id),
            space,
            sender: context.run.agent_id,
            content,
            by: MessageSource::Run(Box::new(self.by_run(record))),
        };
        let posted = {
            let _writing = context.writing.lock().await;
            context.pipeline.post(&new).await
        };
        match posted {
            Ok(appended) => {
                // A message right after the last one that the run has read counts as read.
                let seq = appended.message.seq;
                let is_next = self.marks.get(&space).is_some_and(|read| read + 1 == seq);
                Ok(Some(PostedMessage { appended, mark: is_next.then_some((space, seq)) }))
            }
            Err(Error::NotAMember | Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
