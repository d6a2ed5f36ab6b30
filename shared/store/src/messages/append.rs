//! Appending a message decides which agents it triggers: one transaction stores the message at the
//! space's next number, the decision, and a queued run for each agent that it triggers. If they are
//! too many for one transaction, the `trigger` function decides and queues the runs. `HEAD` also
//! counts the messages of a second, which are limited.
//!
//! The checks of the transaction, and their reasons:
//! - `HEAD` is still at number n, which gives the space one order, and at the same version of the
//!   roster, so that the decision covers every member who has joined and none who has left
//! - no message exists at number n + 1: if the answer to the first try was lost, its token is there
//! - the sender is still a member
//! - for a message from a run: the worker still holds the lease, and the call is not finished yet;
//!   or the run was canceled under this worker, which stores what its model had written
//! - for a message of a remote agent: its lease holds, and it has posted as many messages as it
//!   had when its request was read
//! - for a message with which a run ends: what the end checks. If one of these fails, nothing is
//!   stored, and the message and the end follow one by one
//! - its files are ready, and none of them is being deleted
//! - the idempotency key is new

mod attempt;
mod draft;
mod gated;
mod late_dispatch;
mod new_message;
mod parent;
mod questions;
mod replies;
mod space_as_read;
mod talk;
mod wakes;

use serde_json::Value;
use smartspace_domain::{
    Time,
    append_limits::AppendWindow,
    dispatch::{Dispatch, IncomingMessage, Reason},
    ids::{EntityId, MessageId, SpaceId},
    jobs::RunJob,
    messages::Message,
    quota::{Bucket, RateWindow},
    runs::Run,
};

pub use self::late_dispatch::{LateDispatch, Stored};
pub use self::new_message::{
    Authority, Content, MessageSource, NewApproval, NewCard, NewForm, NewMessage, RunSender,
};
pub(crate) use self::talk::TalkingSpaces;
use self::{
    attempt::Attempt,
    gated::Details,
    questions::Question,
    space_as_read::SpaceAsRead,
    talk::{Asked, Before},
};
use crate::{
    Error, Messages, Result,
    attachments::{FileRecord, unusable},
    idempotency::{PostKey, Posted},
    runs::{RunRecord, cards::CardRef},
    shared::{member::MemberRecord, message::MessageRecord, space::no_such_space},
    spaces::rosters::Head,
    table::{WriteError, keys, refusal::Refusal},
};

/// The result of an append.
#[derive(Clone, Debug)]
pub struct Appended {
    /// The message, as it is stored.
    pub message: Message,
    /// The result of the call that posted it, as it is stored: it also says which agents the
    /// message triggers. `None` if no call posted it, or if an earlier one did.
    pub call_output: Option<Value>,
    /// The runs that it triggers, to be queued.
    pub triggered: Vec<RunJob>,
    /// The queued runs that wait in their lane or for a slot, and their positions; 1 is the next
    /// one.
    pub queued: Vec<(Run, usize)>,
    /// The runs that never start, because another one answers their message.
    pub never_started: Vec<Run>,
    /// The runs that the message replaced.
    pub superseded: Vec<RunRecord>,
    /// The agents of these runs and the bucket of each agent's quota, to be counted.
    pub taken: Vec<(EntityId, Bucket)>,
    /// The same key or call stored the message before.
    pub repeated: bool,
    /// Its sender owns the space. Not known of a message that was stored before.
    pub by_owner: bool,
    /// `HEAD.changed`, as it was read for this message. Not known of a message that was stored
    /// before.
    pub changed: Option<u64>,
    /// Whether it moved its space in the list by activity: the last move was a minute ago.
    pub moves_space: bool,
    /// Where the message is, if it shows a call that has no result yet.
    pub open_card: Option<CardRef>,
}

impl Messages<'_> {
    /// Stores a message and triggers agents. Fails with [`Error::NotAMember`] if the sender is not
    /// a member of the space, with [`Error::TooMany`] if the space has too many messages in this
    /// second, and with [`Error::Retry`] after conflicts for five seconds.
    ///
    /// The checks have one order: the space exists, the request is not a repeated one, the sender
    /// is a member, the idempotency key has this body, the space has room in this second, and what
    /// the transaction checks. So a repeated request gets the same answer even if its sender has
    /// left, and any other request of an entity outside of the space fails with
    /// [`Error::NotAMember`].
    pub async fn append(self, new: &NewMessage, now: Time) -> Result<Appended> {
        // In a box, because it would make the future of every caller large.
        Box::pin(self.append_in_order(new, now)).await
    }

    async fn append_in_order(self, new: &NewMessage, now: Time) -> Result<Appended> {
        let key = new.by.key();
        let bytes = new.content.bytes();
        if let Some(refusal) = self.store.refusal_of(new.space, new.sender, bytes, now) {
            // Without a key there is nothing to read: a flood costs no call of the table.
            let repeated = if key.is_some() { self.repeated_by(new, now).await? } else { None };
            return repeated.ok_or(refusal);
        }
        // Messages that waited for the lock count in the second in which they are stored.
        let (_lock, now) = self.store.space_locks.lock_space(new.space, now).await;
        let (mut as_read, posted) =
            self.read_with_talk(new.space, key, &Asked::of(new), now).await?;
        if let Some(made) = made_before(key, posted, as_read.sender().is_ok(), now)? {
            return self.posted_before(new.space, made).await;
        }
        let mut tries = self.store.optimistic_retry();
        let mut files = new.files.clone();
        loop {
            let attempt = Attempt::new(self.store, new, &files, &as_read, now)
                .inspect_err(|_| self.saw_second(new.space, as_read.head.second.as_ref()))?;
            let refusal = match self.store.table.transact(&attempt.writes).await {
                Ok(()) => {
                    self.saw_second(new.space, attempt.second.as_ref());
                    return Ok(attempt.appended(new.space));
                }
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            // The first try took effect and its answer was lost.
            let item_key = keys::numbered(new.space, keys::MSG, attempt.record.seq);
            if refusal
                .existing::<MessageRecord>(&item_key)
                .is_some_and(|stored| stored.id == new.id)
            {
                return Ok(attempt.appended(new.space));
            }
            let made = PostKey::made(key, &refusal);
            if let Ok(Some(made)) = made {
                return self.posted_before(new.space, made).await;
            }
            may_still_send(new, &refusal)?;
            made?;
            let files_changed = refresh_files(new.space, &mut files, &refusal)?;
            if !files_changed {
                expect_conflict(new, &as_read, &refusal)?;
            }
            tries
                .after_conflict(
                    "too many messages are sent to this space at once; repeat the request with \
                     the same Idempotency-Key",
                )
                .await?;
            if !files_changed || refusal.names(&keys::space_head(new.space)) {
                self.refresh(&mut as_read, new, &refusal, now).await?;
            }
        }
    }

    /// The answer of an append without regard to the files of the message: the message of a
    /// repeated request, or an error. `None` if the append would go on.
    pub async fn repeated_by(self, new: &NewMessage, now: Time) -> Result<Option<Appended>> {
        let key = new.by.key();
        let head = keys::space_head(new.space);
        let member = keys::member(new.space, new.sender);
        let mut wanted = vec![head.clone(), member.clone()];
        wanted.extend(key.map(PostKey::item_key));
        let mut items = self.store.table.get_all(&wanted).await?;
        items.take::<Head>(&head)?.ok_or_else(no_such_space)?;
        let posted = match key {
            Some(key) => items.take(&key.item_key())?,
            None => None,
        };
        let is_member = items.take::<MemberRecord>(&member)?.is_some();
        match made_before(key, posted, is_member, now)? {
            Some(made) => self.posted_before(new.space, made).await.map(Some),
            None => Ok(None),
        }
    }

    fn saw_second(self, space: SpaceId, second: Option<&AppendWindow>) {
        self.store.seconds.saw(space, second);
    }

    /// Brings a read space up to date after a conflict.
    async fn refresh(
        self,
        as_read: &mut SpaceAsRead,
        new: &NewMessage,
        refusal: &Refusal,
        now: Time,
    ) -> Result<()> {
        let asked = Asked::of(new);
        let again = || self.read_with_talk(new.space, None, &asked, now);
        if as_read.has_old_lanes(refusal) {
            (*as_read, _) = again().await?;
            return Ok(());
        }
        let head = keys::space_head(new.space);
        // The winner may have moved on meanwhile, so the head in the refusal only shows whether the
        // roster has changed.
        let roster = refusal.existing::<Head>(&head).ok_or_else(no_such_space)?.roster;
        if roster == as_read.head.roster {
            let (read, talk) = futures::try_join!(
                self.store.table.get(&head),
                self.expected_talk(new.space, &asked)
            )?;
            as_read.head = read.ok_or_else(no_such_space)?;
            self.take_talk(as_read, &asked, talk).await?;
        }
        if roster != as_read.head.roster || as_read.head.roster != as_read.roster.head.roster {
            (*as_read, _) = again().await?;
        }
        Ok(())
    }

    /// The decision that a text would get, without storing anything.
    pub async fn preview(
        self,
        space: SpaceId,
        sender: EntityId,
        text: &str,
        reply_to: Option<u64>,
        now: Time,
    ) -> Result<Vec<Dispatch>> {
        let before = Before::Next;
        let asked = Asked { sender, text: Some(text), found: None, depth: 0, before, reply_to };
        let (as_read, _) = self.read_with_talk(space, None, &asked, now).await?;
        let member = as_read.sender()?;
        let sender = member.sender();
        as_read.check_parent()?;
        let by = MessageSource::External { key: None, depth: 0, page: None };
        let depth = as_read.depth_of(&by, member);
        let mut minute = RateWindow::now(as_read.head.minute.as_ref(), now);
        let id = MessageId::new(now, 0);
        let auto_since = as_read.auto_since(&by, member);
        let incoming = IncomingMessage {
            auto_since,
            chain_stopped: as_read.is_stopped(as_read.chain_of(&by, member), now),
            mentions: &as_read.mentions,
            ..IncomingMessage::new(&sender, text, depth)
        };
        let incoming = as_read.with_parent(incoming);
        let gated = as_read.gated(incoming, Details::default(), now);
        let asks = as_read.is_question(&incoming);
        let question = Question { id, incoming, details: Details::default(), asks };
        let decided = as_read.decide_new(&question, gated.as_ref(), &mut minute, now);
        let mut dispatch = decided.dispatch;
        for asked in dispatch.iter_mut().filter(|it| decided.asks_router.contains(&it.agent_id)) {
            *asked = Dispatch {
                reason_text: Some("asks the router".into()),
                ..Dispatch::refused(asked.agent_id, Reason::Router)
            };
        }
        Ok(dispatch)
    }

    /// The message that the same idempotency key made before, if it made one.
    pub async fn repeated(
        self,
        space: SpaceId,
        key: &PostKey,
        now: Time,
    ) -> Result<Option<Appended>> {
        match self.store.idempotency().made_before(Some(key), now).await? {
            Some(seq) => self.posted_before(space, seq).await.map(Some),
            None => Ok(None),
        }
    }

    /// The message that the same idempotency key made before.
    async fn posted_before(self, space: SpaceId, seq: u64) -> Result<Appended> {
        let record = self.record(space, seq).await?;
        let record = record.ok_or_else(|| {
            Error::NotFound("the message that this Idempotency-Key made no longer exists".into())
        })?;
        let message = self.with_long_texts(space, vec![record]).await?.pop();
        let message =
            message.ok_or_else(|| Error::Internal("a stored message has no view".into()))?;
        Ok(Appended {
            message,
            call_output: None,
            triggered: Vec::new(),
            queued: Vec::new(),
            never_started: Vec::new(),
            superseded: Vec::new(),
            taken: Vec::new(),
            repeated: true,
            by_owner: false,
            changed: None,
            moves_space: false,
            open_card: None,
        })
    }
}

/// Takes over what the refusal says of files. Returns whether one of them has changed: another
/// message was the first to name it.
fn refresh_files(space: SpaceId, files: &mut [FileRecord], refusal: &Refusal) -> Result<bool> {
    let mut changed = false;
    for (index, file) in files.iter_mut().enumerate() {
        let key = keys::file(space, file.id);
        if refusal.names(&key) {
            changed = true;
            let stored: Option<FileRecord> = refusal.existing(&key);
            let stored = stored.ok_or_else(|| unusable(index, "it was deleted"))?;
            if let Some(why) = stored.unnameable() {
                return Err(unusable(index, why));
            }
            *file = stored;
        }
    }
    Ok(changed)
}

/// The number of the message that the same idempotency key made before. A sender that is no longer
/// a member gets this message, but does not learn that its key was used with another body.
fn made_before(
    key: Option<&PostKey>,
    posted: Option<Posted>,
    is_member: bool,
    now: Time,
) -> Result<Option<u64>> {
    let made = key.map(|key| key.made_before(posted, now)).transpose().map(Option::flatten);
    match made {
        Ok(Some(made)) => Ok(Some(made)),
        _ if !is_member => Err(Error::NotAMember),
        made => made,
    }
}

/// Fails if the transaction was refused since the sender may not send this message: its call is
/// finished, its lease is lost, or it has left the space.
fn may_still_send(new: &NewMessage, refusal: &Refusal) -> Result<()> {
    if let MessageSource::Run(by) = &new.by {
        let (step, index) = by.authority.call_position();
        let is_approved = by.authority.call().is_some_and(|call| call.card.is_some());
        // The end of a run closes its approved calls.
        if is_approved && refusal.names(&keys::run_meta(by.run)) {
            return Err(Error::LeaseLost);
        }
        if refusal.names(&keys::call(by.run, step, index)) {
            return Err(Error::Conflict("this call is finished already".into()));
        }
        if refusal.names(&keys::run_meta(by.run)) {
            return Err(Error::LeaseLost);
        }
    }
    if refusal.names(&keys::member(new.space, new.sender)) {
        return Err(Error::NotAMember);
    }
    Ok(())
}

/// Fails unless the transaction was refused because another writer was faster.
fn expect_conflict(new: &NewMessage, as_read: &SpaceAsRead, refusal: &Refusal) -> Result<()> {
    let is_outdated = refusal.names(&keys::space_head(new.space)) || as_read.has_old_lanes(refusal);
    // The slots and the lane of the sender are among those that were read, but only its end
    // writes them.
    if new.by.end().is_some_and(|end| !is_outdated || end.is_refused(refusal)) {
        return Err(Error::Conflict("the run can't end with this message".into()));
    }
    if !is_outdated {
        return Err(Error::Internal(
            "a message could not be stored, and no failed condition explains why".into(),
        ));
    }
    Ok(())
}
