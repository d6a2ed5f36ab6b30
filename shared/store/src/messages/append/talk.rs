//! The last messages of a space, for decisions that follow from the talk: only spaces with such a
//! policy read them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use smartspace_domain::{
    Time,
    dispatch::{Addressing, IncomingMessage},
    entities::EntityType::Human,
    ids::{EntityId, SpaceId},
    limits::TALK,
    mentions::{self, Mention},
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
    /// The mentions in its text, if it is stored.
    pub(super) found: Option<&'a [Mention]>,
    /// Its chain depth, at least.
    pub(super) depth: u32,
    pub(super) before: Before,
    /// The number of the message to which it replies.
    pub(super) reply_to: Option<u64>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(new: &'a NewMessage) -> Self {
        let depth = match &new.by {
            MessageSource::Run(by) => by.depth,
            MessageSource::External { depth, .. } => *depth,
        };
        let text = new.content.text().filter(|_| !new.by.is_stopped());
        Self {
            sender: new.sender,
            text,
            found: None,
            depth,
            before: Before::Next,
            reply_to: new.reply_to,
        }
    }

    /// A message that is decided after it was stored.
    pub(super) fn stored(seq: u64, message: &IncomingMessage<'a>, reply_to: Option<u64>) -> Self {
        let depth = message.chain_depth;
        Self {
            sender: message.sender,
            text: Some(message.text),
            found: Some(message.mentions),
            depth,
            before: Before::Stored(seq),
            reply_to,
        }
    }

    /// The mentions in its text.
    fn find(&self, roster: &Roster) -> Vec<Mention> {
        match (self.found, self.text) {
            (Some(found), _) => found.to_vec(),
            (None, Some(text)) => mentions::find(text, roster.names()),
            (None, None) => Vec::new(),
        }
    }

    /// Whether the talk can matter: the message addresses no agent, and one is there.
    fn is_open(&self, roster: &Roster, mentions: &[Mention]) -> bool {
        self.text.is_some()
            && roster.agents().any(|agent| agent != self.sender)
            && Addressing::of(mentions, roster.agents(), roster.members.len()).is_open()
    }

    /// Whether decisions in a space with these settings follow from the talk. A gate has given its
    /// scores when the message was stored.
    fn follows_from_talk(
        &self,
        settings: &SpaceSettings,
        roster: &Roster,
        mentions: &[Mention],
    ) -> bool {
        let is_next = matches!(self.before, Before::Next);
        let is_human = || roster.member(self.sender).is_some_and(|it| it.kind == Human);
        let is_partner = settings.trigger_policy == TriggerPolicy::Partner && is_human();
        let may_wake = self.depth < settings.max_chain_depth;
        // At the depth of the space the gate says whether an agent's message ends a chain.
        let may_end = is_next && settings.gate_decides() && !is_human();
        ((may_wake && (is_partner || (settings.has_gate() && is_next))) || may_end)
            && self.is_open(roster, mentions)
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

/// What is known of a message beside the head of its space.
#[derive(Default)]
pub(super) struct Expected {
    /// The talk, if the decision is expected to follow from it.
    talk: Option<Vec<MessageRecord>>,
    /// The version of the roster that this process saw last, and the mentions of its members.
    mentions: Option<(u64, Vec<Mention>)>,
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
        let ((mut as_read, posted), expected) = futures::try_join!(
            self.read_space(id, asked.sender, key, asked.reply_to, now),
            self.expected_talk(id, asked)
        )?;
        self.take_talk(&mut as_read, asked, expected).await?;
        Ok((as_read, posted))
    }

    /// Takes over the talk that was read beside the head, or reads it if the decision follows from
    /// it. Finds the mentions, unless they were found in the same roster.
    pub(super) async fn take_talk(
        self,
        as_read: &mut SpaceAsRead,
        asked: &Asked<'_>,
        expected: Expected,
    ) -> Result<()> {
        let Expected { talk, mentions } = expected;
        let version = as_read.roster.head.roster;
        as_read.mentions = match mentions {
            Some((roster, mentions)) if roster == version => mentions,
            _ => asked.find(&as_read.roster),
        };
        let space = as_read.space.id;
        let settings = &as_read.space.settings;
        let depth = settings.decides_by_talk().then_some(settings.max_chain_depth);
        self.store.talking_spaces.saw(space, depth);
        let is_open = !as_read.is_addressed_by_reply(asked.sender)
            && asked.follows_from_talk(settings, &as_read.roster, &as_read.mentions);
        as_read.talk = if is_open {
            self.talk(space, as_read.head.seq, asked.before, talk).await?
        } else {
            Vec::new()
        };
        Ok(())
    }

    /// Reads the talk beside the batch of a space, if the decision followed from it in the space
    /// that this process saw last.
    pub(super) async fn expected_talk(self, space: SpaceId, asked: &Asked<'_>) -> Result<Expected> {
        let seen = self.store.talking_spaces.last_seen(space);
        let Some((depth, roster)) = seen.zip(self.store.rosters.last_seen(space)) else {
            return Ok(Expected::default());
        };
        // Few decisions that come later follow from the talk.
        if !matches!(asked.before, Before::Next) {
            return Ok(Expected::default());
        }
        let mentions = asked.find(&roster);
        let talk = if asked.depth < depth && asked.is_open(&roster, &mentions) {
            Some(self.records(space, Range::Before(u64::MAX), TALK).await?)
        } else {
            None
        };
        Ok(Expected { talk, mentions: Some((roster.head.roster, mentions)) })
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
