//! Edits and deletions of messages. Each is one transaction, of at most 36 writes.
//!
//! Its checks, and their reasons:
//! - the message has the revision that was read, so that nothing follows a deletion
//! - `HEAD` has the roster, the number of changes and the number of messages that were read: the
//!   mentions are those of the members, the log of changes is complete, and no message that was
//!   counted in this second is lost
//! - the caller is still a member, in the same role
//! - for a call of a run: the worker still holds the lease, and the call is not finished yet
//! - the summary of the space is the one that was read
//! - the block of words that covers the message has the parts that were read
//!
//! It deletes this block, and refuses the blocks that are being built (see [`crate::search`]).
//!
//! A message that is deleted becomes a tombstone, which is due: a job removes what is stored of it
//! elsewhere.

mod as_read;
mod attempt;
mod change_log;
mod summary;

use smartspace_domain::{
    Error, Time,
    access::Caller,
    ids::{EntityId, SpaceId},
    messages::Message,
};

pub use self::change_log::{Change, ChangeLog};
use self::{as_read::AsRead, attempt::Attempt};
use crate::{
    Messages, Result,
    runs::{endings::ByWorker, steps::CallRecord},
    shared::message::MessageRecord,
    table::{WriteError, keys, refusal::Refusal},
};

/// An edit or a deletion of a message.
#[derive(Clone, Debug)]
pub struct MessageChange<'a> {
    pub space: SpaceId,
    /// The number of the message.
    pub seq: u64,
    pub to: NewState<'a>,
    /// The run and the call that make the change, if a run does. Its result is stored with it.
    pub by: Option<ByWorker<'a>>,
}

/// The state that a change gives a message.
#[derive(Clone, Copy, Debug)]
pub enum NewState<'a> {
    /// Its sender gives it another text.
    Edited {
        /// The entity that must be its sender.
        editor: EntityId,
        text: &'a str,
        /// The revision that it must have, if that matters.
        rev: Option<u64>,
    },
    /// Nothing but its tombstone is left.
    Deleted {
        /// The caller that deletes it.
        caller: Caller,
    },
    /// A card whose call has posted or edited a message that was deleted: it loses its input.
    CardCut {
        /// The number of the deleted message.
        deleted: u64,
    },
}

/// A message after a change.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The message, as it is stored.
    pub message: Message,
    /// The message as it was before.
    pub before: MessageRecord,
    /// Whether this call has changed it. Otherwise it was like that before, and no result of a call
    /// is stored.
    pub is_new: bool,
    /// Whether it was pinned, and is no longer.
    pub is_unpinned: bool,
    /// Whether it is the last message of its space.
    pub is_last: bool,
}

/// What a change has done.
#[derive(Clone, Copy, Default)]
struct How {
    is_new: bool,
    is_unpinned: bool,
    is_last: bool,
}

impl MessageChange<'_> {
    /// The entity that makes the change. `None` is the operator.
    fn entity(&self) -> Option<EntityId> {
        match self.to {
            NewState::Edited { editor, .. } => Some(editor),
            NewState::Deleted { caller } => caller.entity(),
            NewState::CardCut { .. } => None,
        }
    }

    /// The bytes that count towards the limit of the space.
    fn bytes(&self) -> usize {
        match self.to {
            NewState::Edited { text, .. } => text.len(),
            NewState::Deleted { .. } | NewState::CardCut { .. } => 0,
        }
    }

    fn item_key(&self) -> keys::Key {
        keys::numbered(self.space, keys::MSG, self.seq)
    }
}

impl Messages<'_> {
    /// Edits or deletes a message. Fails with [`Error::NotAMember`] or [`Error::NotFound`] if the
    /// caller is not a member of the space, with [`Error::Forbidden`] if it may not change this
    /// message, with [`Error::Conflict`] if the message can't be changed, with [`Error::TooMany`]
    /// if the space has too many messages in this second, and with [`Error::Retry`] after conflicts
    /// for five seconds.
    pub async fn change(self, change: &MessageChange<'_>, now: Time) -> Result<Changed> {
        let MessageChange { space, seq, .. } = *change;
        let refused = change
            .entity()
            .and_then(|entity| self.store.refusal_of(space, entity, change.bytes(), now));
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        let (_lock, now) = self.store.space_locks.lock_space(space, now).await;
        let mut tries = self.store.optimistic_retry();
        loop {
            let as_read = self.read_for_change(space, seq, change.entity()).await?;
            let Some(attempt) = self.attempt(change, &as_read, now).await? else {
                let record = as_read.message(seq)?.clone();
                return self.changed(change, record.clone(), record, How::default()).await;
            };
            let Attempt { after, before, writes, is_unpinned, second } = attempt;
            let how = How { is_new: true, is_unpinned, is_last: as_read.head.seq == seq };
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => {
                    self.store.seconds.saw(space, second.as_ref());
                    return self.changed(change, before, after, how).await;
                }
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            // The first try took effect and its answer was lost.
            let stored: Option<MessageRecord> = refusal.existing(&change.item_key());
            if stored.is_some_and(|stored| is_same(&stored, &after)) {
                return self.changed(change, before, after, how).await;
            }
            if let Some(by) = &change.by {
                if is_stored(by, &refusal) {
                    return self.changed(change, before, after, how).await;
                }
                may_still_write(by, &refusal)?;
            }
            tries
                .after_conflict("the messages of this space change all the time; try again")
                .await?;
        }
    }

    /// The next attempt of a change, or `None` if the message is like that already.
    async fn attempt(
        self,
        change: &MessageChange<'_>,
        as_read: &AsRead,
        now: Time,
    ) -> Result<Option<Attempt>> {
        match change.to {
            NewState::Edited { text, rev, .. } => {
                let Some(content) = attempt::new_text(change, as_read, text, rev)? else {
                    return Ok(None);
                };
                let roster =
                    self.store.members().roster_of(change.space, as_read.head.roster).await?;
                Attempt::edit(self.store, change, as_read, &content, &roster, now).map(Some)
            }
            NewState::Deleted { caller } => {
                let Some(by) = attempt::deleted_by(change, as_read, caller)? else {
                    return Ok(None);
                };
                Attempt::delete(self.store, change, as_read, by, now).map(Some)
            }
            NewState::CardCut { deleted } => {
                let Some(card) = attempt::cut_card(change, as_read, deleted)? else {
                    return Ok(None);
                };
                Attempt::cut(self.store, change, as_read, card, now).map(Some)
            }
        }
    }

    async fn changed(
        self,
        change: &MessageChange<'_>,
        before: MessageRecord,
        after: MessageRecord,
        how: How,
    ) -> Result<Changed> {
        let message = self.with_long_texts(change.space, vec![after]).await?.pop();
        let message =
            message.ok_or_else(|| Error::Internal("a stored message has no view".into()))?;
        let How { is_new, is_unpinned, is_last } = how;
        Ok(Changed { message, before, is_new, is_unpinned, is_last })
    }
}

/// Whether a stored message is the one that an attempt has written.
fn is_same(stored: &MessageRecord, written: &MessageRecord) -> bool {
    stored.rev == written.rev
        && stored.updated_at == written.updated_at
        && stored.text == written.text
        && stored.deleted == written.deleted
}

/// Whether the result of the call is stored, so that its change took effect.
fn is_stored(by: &ByWorker<'_>, refusal: &Refusal) -> bool {
    let stored: Option<CallRecord> = refusal.existing(&by.result.key(by.run));
    stored.is_some_and(|stored| {
        stored.call_id == by.result.call_id && stored.status == by.result.status
    })
}

/// Checks that the worker has not lost its run.
fn may_still_write(by: &ByWorker<'_>, refusal: &Refusal) -> Result<()> {
    if refusal.names(&keys::run_meta(by.run)) || refusal.names(&by.result.key(by.run)) {
        return Err(Error::LeaseLost);
    }
    Ok(())
}
