//! Posts the messages of calls.

use smartspace_domain::{
    Error, Result,
    ids::{MessageId, SpaceId},
};
use smartspace_store::{
    attachments::FileRecord,
    messages::append::{Appended, Authority, Content, MessageSource, NewMessage, RunSender},
    runs::{
        RunRecord,
        endings::{Ended, Ending},
        steps::CallRecord,
    },
};

use crate::tools::calling::Calling;

/// A message that a call has posted.
pub(crate) struct PostedMessage {
    pub(crate) appended: Appended,
    /// The run has read the space up to the message. `None` if others wrote in between.
    pub(crate) read_up_to: Option<(SpaceId, u64)>,
    /// `HEAD.changed` of the space, as the append has read it.
    pub(crate) changed: Option<u64>,
}

/// The text or card that a call posts, with its files.
pub(crate) struct PostContent {
    pub(crate) content: Content,
    /// The files of the message. They are ready.
    pub(crate) files: Vec<FileRecord>,
    /// The number of the message to which it replies.
    pub(crate) reply_to: Option<u64>,
}

impl From<Content> for PostContent {
    fn from(content: Content) -> Self {
        Self { content, files: Vec::new(), reply_to: None }
    }
}

impl Calling<'_> {
    /// Posts a message. The message, the record of the call and the check of the lease are one
    /// transaction. `None` if the agent is not a member of the space, or the space was deleted.
    /// Fails with [`Error::TooMany`] if the space accepts no further message in this second. Then
    /// nothing is stored, and the loop makes the call again.
    pub(crate) async fn post(
        &self,
        space: SpaceId,
        content: PostContent,
        record: CallRecord,
    ) -> Result<Option<PostedMessage>> {
        let context = self.context;
        let new = self.new_message(space, content, self.sender_with_lease(record));
        let posted = {
            let _writing = context.writing.lock().await;
            context.pipeline.post(&new).await
        };
        match posted {
            Ok(appended) => {
                // A message right after the last one that the run has read counts as read.
                let seq = appended.message.seq;
                let is_next = self.marks.get(&space).is_some_and(|read| read + 1 == seq);
                let changed = appended.changed;
                let read_up_to = is_next.then_some((space, seq));
                Ok(Some(PostedMessage { appended, read_up_to, changed }))
            }
            Err(Error::NotAMember | Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Posts the message with which `run` ends, and ends it. Returns the message and the run
    /// as it is then. Nothing is stored if this fails with another error than [`Error::Retry`].
    pub(crate) async fn post_last(
        &self,
        space: SpaceId,
        content: PostContent,
        record: CallRecord,
        run: &RunRecord,
        ending: &Ending,
    ) -> Result<(MessageId, Ended)> {
        let context = self.context;
        let _writing = context.writing.lock().await;
        let runs = context.store().runs();
        let end = runs.end_with_message(run, &context.lease, ending, space, context.now()).await?;
        let call = context.with_expiry(record);
        let by = self.sender(Authority::Last { call, end: end.clone() });
        let new = self.new_message(space, content, by);
        let posted = context.pipeline.post(&new).await?;
        context.broadcasts.share_last_read();
        Ok((new.id, end.ended(space, posted.message.seq)))
    }

    fn new_message(&self, space: SpaceId, post: PostContent, by: RunSender) -> NewMessage {
        NewMessage {
            id: self.message_id(),
            space,
            sender: self.context.run.agent_id,
            content: post.content,
            files: post.files,
            reply_to: post.reply_to,
            by: MessageSource::Run(Box::new(by)),
        }
    }
}
