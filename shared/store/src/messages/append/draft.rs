//! The draft of an append: what [`NewMessage`] and the space as read determine together, which is
//! the number of the message, its chain depth and its dispatch. Each attempt makes a new draft.

mod body;

use smartspace_domain::{
    Time,
    append_limits::{AppendLimit, AppendWindow},
    dispatch::{ChainEnded, Decided, Dispatch, IncomingMessage},
    ids::{ChainId, EntityId, SpaceId},
    limits,
    mentions::Mention,
    messages::{ReplyTo, Sender},
    quota::{Bucket, RateWindow},
};

use self::body::Body;
use crate::{
    Result,
    attachments::FileRecord,
    limits::quota::minute_stays,
    messages::append::{
        Content, MessageSource, NewMessage,
        gated::{Details, Gated},
        parent::Parent,
        questions::Question,
        space_as_read::SpaceAsRead,
    },
    shared::message::{MessageRecord, Overflow, ToolCard},
    table::{keys, write::Write},
};

/// A message as one attempt stores it.
pub(super) struct Draft {
    seq: u64,
    depth: u32,
    /// The chain of the message; `None` if it begins one.
    chain: Option<ChainId>,
    sender: Sender,
    /// For a message of an agent that is no outside cause: the last outside cause before it.
    pub(super) auto_since: Option<u64>,
    /// The space's runs of this minute, including those that the message triggers.
    minute: RateWindow,
    /// The messages of this second, including this one. `None` if they are not limited.
    pub(super) second: Option<AppendWindow>,
    /// Whether it is a question that is not left to silence.
    asks: bool,
    pub(super) dispatch: Vec<Dispatch>,
    mentions: Vec<Mention>,
    /// What the gate says, if the space has one.
    pub(super) gated: Option<Gated>,
    pub(super) taken: Vec<(EntityId, Bucket)>,
    /// How many runs `minute` counts for the message.
    counted: usize,
    chain_ended: Option<ChainEnded>,
    reply_to: Option<ReplyTo>,
    /// The first message of its chain of replies.
    thread: Option<u64>,
    /// How many tool cards the space has, with this message.
    cards: u64,
    /// The place of the space in the list by activity, if the message moves it.
    pub(super) listed: Option<String>,
    /// When the message is stored.
    at: Time,
    /// Whether the message triggers too many agents for one transaction, or the router has to be
    /// asked. The trigger function then decides again.
    pub(super) is_decided_later: bool,
}

impl Draft {
    /// Fails with [`Error::TooMany`](crate::Error::TooMany) if the message is over `limit`.
    pub(super) fn new(
        new: &NewMessage,
        as_read: &SpaceAsRead,
        limit: Option<AppendLimit>,
        now: Time,
    ) -> Result<Self> {
        let member = as_read.sender()?;
        let sender = member.sender();
        let second = limit.map(|limit| {
            let known = AppendWindow::of(as_read.head.second.as_ref(), now);
            known.count(limit, sender.id, sender.kind, new.content.bytes(), now)
        });
        let second = second.transpose()?;
        as_read.check_parent()?;
        let depth = as_read.depth_of(&new.by, member);
        let chain = as_read.chain_of(&new.by, member);
        let auto_since = as_read.auto_since(&new.by, member);
        let mut minute = RateWindow::now(as_read.head.minute.as_ref(), now);
        let (mut gated, mut asks) = (None, false);
        let decided = match new.content.text() {
            Some(text) if !new.by.is_stopped() => {
                let incoming = IncomingMessage {
                    auto_since,
                    chain_stopped: as_read.is_stopped(chain, now),
                    mentions: &as_read.mentions,
                    ..IncomingMessage::new(&sender, text, depth)
                };
                let incoming = as_read.with_parent(incoming);
                asks = as_read.is_question(&incoming);
                gated = as_read.gated(incoming, Details::of(new), now);
                let question = Question { id: new.id, incoming, details: Details::of(new), asks };
                as_read.decide_new(&question, gated.as_ref(), &mut minute, now)
            }
            _ => Decided::default(),
        };
        let is_later = decided.woken() > limits::WOKEN_AT_ONCE || !decided.asks_router.is_empty();
        let Decided { dispatch, taken, counted, chain_ended, .. } = decided;
        Ok(Self {
            seq: as_read.head.seq + 1,
            depth,
            chain,
            sender,
            auto_since,
            minute,
            second,
            asks,
            dispatch,
            mentions: as_read.mentions.clone(),
            gated,
            taken,
            counted,
            chain_ended,
            reply_to: as_read.parent.as_ref().map(Parent::reply_to),
            thread: as_read.parent.as_ref().map(Parent::thread),
            cards: as_read.head.cards + u64::from(matches!(new.content, Content::Card(_))),
            listed: as_read.head.next_place(new.space, now),
            at: now,
            is_decided_later: is_later,
        })
    }

    /// The same message, for the trigger function to decide.
    pub(super) fn decided_later(self) -> Self {
        Self { is_decided_later: true, ..self }
    }

    pub(super) fn record(&self, new: &NewMessage, now: Time) -> (MessageRecord, Overflow) {
        let is_later = self.is_decided_later;
        let is_dispatch_apart = !is_later && self.dispatch.len() > limits::DISPATCH_INLINE;
        let by_run = if let MessageSource::Run(by) = &new.by { Some(by) } else { None };
        let Body { text, more_chars, card, overflow } = Body::of(&new.content);
        let until = card.as_ref().and_then(ToolCard::asks_until);
        // The decision that comes later moves the scores out of the item, if they are many.
        let gate = self.gated.as_ref().filter(|_| !is_dispatch_apart);
        let record = MessageRecord {
            id: new.id,
            seq: self.seq,
            rev: 1,
            cards: self.cards,
            sender: self.sender.clone(),
            text,
            card,
            files: new.files.iter().map(FileRecord::named).collect(),
            more_chars,
            run_id: by_run.map(|by| by.run),
            stream_id: by_run.map(|by| by.stream),
            client_key: new.by.client_key(),
            chain_depth: self.depth,
            chain: self.chain,
            partial: new.by.is_partial(),
            asks: self.asks,
            has_page: new.by.page().is_some(),
            origin: by_run.map(|by| by.origin.clone()),
            mentions: self.mentions.clone(),
            reply_to: self.reply_to,
            thread: self.thread,
            edited_at: None,
            reacted: false,
            deleted: None,
            forget: None,
            created_at: now,
            updated_at: now,
            dispatch: (!is_later && !is_dispatch_apart).then(|| self.dispatch.clone()),
            dispatch_apart: is_dispatch_apart,
            router: None,
            gate: gate.map(|gated| gated.gate.clone()),
            gate_texts: gate.filter(|_| is_later).map_or_else(Vec::new, |it| it.texts.clone()),
            chain_ended: self.chain_ended.filter(|_| !is_later),
            may_wake: is_later.then_some(self.counted),
            auto_since: self.auto_since.filter(|_| is_later),
            due: is_later.then(|| keys::due(new.id.part_of(keys::DUE_PARTS))),
            due_at: is_later.then(|| now + limits::due::QUEUED),
            due_count: None,
            g2pk: until.map(|_| keys::open_cards(new.space.part_of(keys::OPEN_PARTS))),
            g2sk: until.map(|until| keys::open_card(until, new.space, self.seq)),
        };
        (record, overflow)
    }

    /// Moves the space's head to this message, unless another message or a change of the roster
    /// came first.
    pub(super) fn head(
        &self,
        space: SpaceId,
        chain: ChainId,
        as_read: &SpaceAsRead,
    ) -> Result<Write> {
        let minute = (!self.taken.is_empty()).then_some(&self.minute);
        let runs = if minute.is_some() { ", #minute = :minute" } else { "" };
        let messages = if self.second.is_some() { ", #second = :second" } else { "" };
        let outside = if self.auto_since.is_none() { ", #outside = :next" } else { "" };
        let is_card = self.cards > as_read.head.cards;
        let cards = if is_card { ", #cards = :cards" } else { "" };
        let place = if self.listed.is_some() { ", #g2pk = :list, #g2sk = :place" } else { "" };
        let also = format!("{outside}{messages}{runs}{cards}{place}");
        let mut head = Write::update(
            keys::space_head(space),
            format!("SET #seq = :next, #depth = :depth, #chain = :chain, #at = :at{also}"),
        )
        .when("#seq = :seq AND #roster = :roster")
        .value(":seq", as_read.head.seq)?
        .value(":next", self.seq)?
        .value(":depth", self.depth)?
        .value(":chain", chain)?
        .value(":at", self.at)?
        .value(":roster", as_read.roster.head.roster)?;
        if is_card {
            head = head.value(":cards", self.cards)?;
        }
        if let Some(place) = &self.listed {
            head = head.value(":list", keys::SPACES_BY_ACTIVITY)?.value(":place", place)?;
        }
        if let Some(second) = &self.second {
            head = head.value(":second", second)?;
        }
        if let Some(minute) = minute {
            head = head.value(":minute", minute)?;
            // A late decision counts runs, too, and changes nothing else of the head.
            head = minute_stays(head, as_read.head.minute.as_ref())?;
        }
        Ok(head)
    }
}
