//! The last messages of a space, for decisions that follow from the talk: only spaces with such a
//! policy read them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use smartspace_domain::{
    Time,
    dispatch::IncomingMessage,
    entities::EntityType,
    ids::{EntityId, SpaceId},
    limits::TALK,
    mentions,
    spaces::{SpaceSettings, TriggerPolicy},
};

use crate::{
    Messages, Result,
    idempotency::{PostKey, Posted},
    messages::{
        MessageRecord, Range,
        append::{MessageSource, NewMessage, space_as_read::SpaceAsRead},
    },
    spaces::rosters::Roster,
};

/// The spaces that decided by the talk when this process last saw their settings, with their
/// `maxChainDepth`.
#[derive(Debug, Default)]
pub(crate) struct TalkingSpaces(Mutex<HashMap<SpaceId, u32>>);

impl TalkingSpaces {
    const MOST: usize = 1_000;

    fn spaces(&self) -> MutexGuard<'_, HashMap<SpaceId, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The `maxChainDepth` of the space, if it decided by the talk when this process saw it last.
    fn last_seen(&self, space: SpaceId) -> Option<u32> {
        self.spaces().get(&space).copied()
    }

    fn saw(&self, space: SpaceId, decides_by_talk: Option<u32>) {
        let mut seen = self.spaces();
        let Some(max_chain_depth) = decides_by_talk else {
            seen.remove(&space);
            return;
        };
        if seen.len() >= Self::MOST {
            seen.clear();
        }
        seen.insert(space, max_chain_depth);
    }
}

/// A message whose decision may follow from the talk before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) sender: EntityId,
    /// Its text. `None` if it triggers nobody, whatever the talk is.
    pub(super) text: Option<&'a str>,
    /// Its chain depth, at least.
    pub(super) depth: u32,
    pub(super) before: Before,
}

impl<'a> Asked<'a> {
    pub(super) fn of(new: &'a NewMessage) -> Self {
        let depth = match &new.by {
            MessageSource::Run(by) => by.depth,
            MessageSource::External { depth, .. } => *depth,
        };
        let text = new.content.text().filter(|_| !new.by.is_stopped());
        Self { sender: new.sender, text, depth, before: Before::Next }
    }

    /// A message that is decided after it was stored.
    pub(super) fn stored(seq: u64, message: &IncomingMessage<'a>) -> Self {
        let depth = message.chain_depth;
        Self {
            sender: message.sender,
            text: Some(message.text),
            depth,
            before: Before::Stored(seq),
        }
    }

    /// Whether the talk can matter: the message addresses no agent, and could trigger one.
    fn is_open(&self, roster: &Roster, max_chain_depth: u32) -> bool {
        let Some(text) = self.text.filter(|_| self.depth < max_chain_depth) else { return false };
        let agents = || roster.members.iter().filter(|member| member.kind == EntityType::Agent);
        if roster.members.len() == 2 || agents().all(|agent| agent.entity_id == self.sender) {
            return false;
        }
        let found = mentions::find(text, agents().map(|agent| agent.name.as_str()));
        !found.all && found.named.is_empty()
    }

    /// Whether decisions in a space with these settings follow from the talk. A gate has given its
    /// scores when the message was stored.
    fn follows_from_talk(&self, settings: &SpaceSettings, roster: &Roster) -> bool {
        let is_next = matches!(self.before, Before::Next);
        let is_human = || roster.member(self.sender).is_some_and(|it| it.kind == EntityType::Human);
        let is_partner = settings.trigger_policy == TriggerPolicy::Partner && is_human();
        (is_partner || (settings.has_gate() && is_next))
            && self.is_open(roster, settings.max_chain_depth)
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
    /// Reads a space as [`Self::read_space`] does, and beside that its talk, if the decision about
    /// `asked` follows from it. The query is a call more than in other spaces, but not in a row. A
    /// process that has not seen the space yet makes it afterwards.
    pub(super) async fn read_with_talk(
        self,
        id: SpaceId,
        key: Option<&PostKey>,
        asked: &Asked<'_>,
        now: Time,
    ) -> Result<(SpaceAsRead, Option<Posted>)> {
        let ((mut as_read, posted), talk) = futures::try_join!(
            self.read_space(id, asked.sender, key, now),
            self.expected_talk(id, asked)
        )?;
        self.take_talk(&mut as_read, asked, talk).await?;
        Ok((as_read, posted))
    }

    /// Takes over the talk that was read beside the head, or reads it if the decision follows from
    /// it.
    pub(super) async fn take_talk(
        self,
        as_read: &mut SpaceAsRead,
        asked: &Asked<'_>,
        expected: Option<Vec<MessageRecord>>,
    ) -> Result<()> {
        let space = as_read.space.id;
        let settings = &as_read.space.settings;
        let depth = settings.decides_by_talk().then_some(settings.max_chain_depth);
        self.store.talking_spaces.saw(space, depth);
        as_read.talk = if asked.follows_from_talk(settings, &as_read.roster) {
            self.talk(space, as_read.head.seq, asked.before, expected).await?
        } else {
            Vec::new()
        };
        Ok(())
    }

    /// Reads the talk beside the batch of a space, if the decision followed from it in the space
    /// that this process saw last.
    pub(super) async fn expected_talk(
        self,
        space: SpaceId,
        asked: &Asked<'_>,
    ) -> Result<Option<Vec<MessageRecord>>> {
        let seen = self.store.talking_spaces.last_seen(space);
        let Some((depth, roster)) = seen.zip(self.store.rosters.last_seen(space)) else {
            return Ok(None);
        };
        // Few decisions that come later follow from the talk.
        let is_next = matches!(asked.before, Before::Next);
        if !is_next || !asked.is_open(&roster, depth) {
            return Ok(None);
        }
        self.records(space, Range::Before(u64::MAX), TALK).await.map(Some)
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
            return self.records(space, Range::Before(seq), TALK).await;
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
