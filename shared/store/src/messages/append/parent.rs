//! The parent of a new message: the message to which it replies.

use smartspace_domain::{
    ids::SpaceId,
    messages::{ReplyTo, Sender},
};

use crate::{
    Messages, Result,
    messages::{MessageRecord, threads::no_such_number},
    table::{Items, keys},
};

/// The message to which a new one replies, as it was read.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    seq: u64,
    /// `None` if there is no such message: it has expired, or the space never had it.
    record: Option<MessageRecord>,
}

impl Parent {
    /// Its sender. `None` if it has expired.
    pub(super) fn sender(&self) -> Option<&Sender> {
        self.record.as_ref().map(|record| &record.sender)
    }

    /// The parent, as the reply stores it.
    pub(super) fn reply_to(&self) -> ReplyTo {
        ReplyTo {
            seq: self.seq,
            message_id: self.record.as_ref().map(|record| record.id),
            sender_id: self.sender().map(|sender| sender.id),
        }
    }

    /// Fails unless it is a message of the space, whose last one has the number `last`. It may have
    /// expired.
    pub(super) fn check(&self, last: u64) -> Result<()> {
        let Self { seq, record } = self;
        if record.is_some() || (1..=last).contains(seq) {
            return Ok(());
        }
        Err(no_such_number("/replyTo", last, *seq))
    }

    /// The first message of the chain of replies.
    pub(super) fn thread(&self) -> u64 {
        self.record.as_ref().and_then(|record| record.thread).unwrap_or(self.seq)
    }
}

impl Messages<'_> {
    /// Takes the parent with the number `seq` out of `items`, which were read beside a head that
    /// was at `last`. A batch does not read its items at the same moment: the parent may be as new
    /// as the head, so a missing one is read again.
    pub(super) async fn take_parent(
        self,
        space: SpaceId,
        seq: Option<u64>,
        items: &mut Items,
        last: u64,
    ) -> Result<Option<Parent>> {
        let Some(seq) = seq else { return Ok(None) };
        let record = match items.take(&keys::numbered(space, keys::MSG, seq))? {
            None if (1..=last).contains(&seq) => self.record(space, seq).await?,
            record => record,
        };
        Ok(Some(Parent { seq, record }))
    }
}
