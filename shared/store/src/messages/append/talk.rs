//! The last messages of a space, for decisions that follow from the talk: only spaces with such a
//! policy read them.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use smartspace_domain::{
    Time,
    ids::{EntityId, SpaceId},
    limits::TALK,
};

use crate::{
    Messages, Result,
    idempotency::{PostKey, Posted},
    messages::{MessageRecord, Range, append::space_as_read::SpaceAsRead},
};

/// The spaces that decided by the talk when this process last saw their settings.
#[derive(Debug, Default)]
pub(crate) struct TalkingSpaces(Mutex<HashSet<SpaceId>>);

impl TalkingSpaces {
    const MOST: usize = 1_000;

    /// Whether the space decided by the talk when this process saw it last.
    pub(super) fn last_seen(&self, space: SpaceId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&space)
    }

    pub(super) fn saw(&self, space: SpaceId, decides_by_talk: bool) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !decides_by_talk {
            seen.remove(&space);
            return;
        }
        if seen.len() >= Self::MOST {
            seen.clear();
        }
        seen.insert(space);
    }
}

/// The messages before which a decision is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before {
    /// The next message of the space.
    Next,
    /// The message with this number, which is stored already.
    Stored(u64),
}

impl Messages<'_> {
    /// Reads a space as [`Self::read_space`] does, and beside that its talk, if decisions in the
    /// space follow from it. The query is a call more than in other spaces, but not in a row. A
    /// process that has not seen the space yet makes it afterwards.
    pub(super) async fn read_with_talk(
        self,
        id: SpaceId,
        sender: EntityId,
        key: Option<&PostKey>,
        before: Before,
        now: Time,
    ) -> Result<(SpaceAsRead, Option<Posted>)> {
        let ((mut as_read, posted), talk) = futures::try_join!(
            self.read_space(id, sender, key, now),
            self.expected_talk(id, before)
        )?;
        self.take_talk(&mut as_read, before, talk).await?;
        Ok((as_read, posted))
    }

    /// Takes over the talk that was read beside the head, or reads it if a decision in the space
    /// follows from it.
    pub(super) async fn take_talk(
        self,
        as_read: &mut SpaceAsRead,
        before: Before,
        expected: Option<Vec<MessageRecord>>,
    ) -> Result<()> {
        let space = as_read.space.id;
        let decides_by_talk = as_read.space.settings.decides_by_talk();
        self.store.talking_spaces.saw(space, decides_by_talk);
        as_read.talk = if decides_by_talk {
            self.talk(space, as_read.head.seq, before, expected).await?
        } else {
            Vec::new()
        };
        Ok(())
    }

    /// Reads the talk beside the batch of a space, if the space decided by it when this process saw
    /// it last.
    pub(super) async fn expected_talk(
        self,
        space: SpaceId,
        before: Before,
    ) -> Result<Option<Vec<MessageRecord>>> {
        if !self.store.talking_spaces.last_seen(space) {
            return Ok(None);
        }
        let before = match before {
            Before::Next => u64::MAX,
            Before::Stored(seq) => seq,
        };
        self.records(space, Range::Before(before), TALK).await.map(Some)
    }

    /// The last 50 messages of a space whose head is at `seq`, or before a stored message, oldest
    /// first. `expected` is what was read beside the head: it may be older or newer than the head,
    /// because a batch and a query do not read at the same moment.
    async fn talk(
        self,
        space: SpaceId,
        seq: u64,
        before: Before,
        expected: Option<Vec<MessageRecord>>,
    ) -> Result<Vec<MessageRecord>> {
        if let Before::Stored(seq) = before {
            return match expected {
                Some(talk) => Ok(talk),
                None => self.records(space, Range::Before(seq), TALK).await,
            };
        }
        if let Some(mut talk) = expected
            && talk.last().map_or(0, |newest| newest.seq) >= seq
        {
            // If newer ones are there, the append loses its race and reads again.
            talk.retain(|message| message.seq <= seq);
            return Ok(talk);
        }
        self.records(space, Range::Before(seq + 1), TALK).await
    }
}
