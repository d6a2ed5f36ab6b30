//! Messages as they are stored.

mod card;
mod cut_json;
mod overflow;
mod tombstone;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error, Time,
    attachments::FilePart,
    dispatch::{ChainEnded, Dispatch, Routed},
    gate::Gate,
    ids::{ChainId, MessageId, RunId, SpaceId, StreamId},
    limits,
    messages::{Deleted, Mention, Message, Origin, Part, ReplyTo, Sender, excerpt},
    spaces::{EXCERPT_CHARS, LastMessage},
    steps::CallStatus,
    stored,
};

pub(crate) use self::overflow::{LongDispatch, Overflow};
pub use self::{
    card::{Asks, ToolCard},
    cut_json::CutJson,
    tombstone::{Forget, Looked},
};

/// A message, as it is stored. Its item is small: a long text, and decisions on many agents, have
/// items of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageRecord {
    pub id: MessageId,
    /// Its number in the space.
    pub seq: u64,
    pub rev: u64,
    /// How many tool cards the space had, with this message.
    #[serde(default, skip_serializing_if = "are_none")]
    pub cards: u64,
    pub sender: Sender,
    /// The first 4,000 characters of the text. For a card, a line about the progress of its call.
    pub text: String,
    /// The tool call that it shows, if it is a card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<ToolCard>,
    /// The files that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<MessageFile>,
    /// How many more characters the text has. The whole text is then in `TEXT#`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_chars: usize,
    /// The run that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The stream that it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<StreamId>,
    /// The idempotency key of the request that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key: Option<String>,
    pub chain_depth: u32,
    /// The chain that it belongs to. `None` if it begins one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<ChainId>,
    /// Whether its run was canceled while the model wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Whether it is a question that is not left to silence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// Whether the sender's page offers something to agents: it is then in `PAGE#`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_page: bool,
    /// Why an agent sent it.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The members that its text mentions, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// The message that it replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<ReplyTo>,
    /// The first message of its chain of replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    /// When its sender last edited it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Time>,
    /// Whether somebody has reacted to it: then its reactions are in `REACT#`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reacted: bool,
    /// Set if it is deleted. It then has no content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Deleted>,
    /// If it is deleted: what of it is left elsewhere, until that is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forget: Option<Forget>,
    /// When it was sent.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// Which agents it triggers. `None` until that is decided, and if the decision is in `WOKEN#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Vec<Dispatch>>,
    /// Whether the decision is in `WOKEN#`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dispatch_apart: bool,
    /// The question to the space's router.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<Routed>,
    /// What the gate said. `None` without a gate, and if it is in `WOKEN#`.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// If it is decided later: the reason text of each score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate_texts: Vec<String>,
    /// The limit that ends a chain of agents' messages with it.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_ended: Option<ChainEnded>,
    /// If it is decided later: how many agents it may trigger. These runs are already counted in
    /// the space's minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_wake: Option<usize>,
    /// If it is decided later, and an agent's that is no outside cause: the last one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_since: Option<u64>,
    /// Its partition in the index of due items, until its runs are queued. If it is deleted: until
    /// it is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// When it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
    /// How often the sweep found it overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_count: Option<u32>,
    /// Its partition in the index of open cards, as long as its card waits for an answer or for
    /// decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2pk: Option<String>,
    /// Its place there: the cards of a partition are in the order of their expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2sk: Option<String>,
}

/// A file that a message names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFile {
    /// The file, as the API shows it.
    #[serde(flatten)]
    pub part: FilePart,
    /// Its hash, in hexadecimal digits.
    pub sha256: String,
}

impl MessageRecord {
    /// Whether it is decided which agents it triggers.
    pub fn is_decided(&self) -> bool {
        self.dispatch.is_some() || self.dispatch_apart
    }

    /// The chain that it belongs to, or that it begins.
    pub fn chain_id(&self) -> ChainId {
        self.chain.unwrap_or_else(|| self.id.into())
    }

    /// Whether the runs that it triggers were queued. A message that the sweep has given up is not
    /// settled.
    pub fn is_settled(&self) -> bool {
        self.is_decided() && self.due.is_none() && self.due_count.is_none()
    }

    /// Whether it shows a call that has no result yet.
    pub fn is_open(&self) -> bool {
        self.card.as_ref().is_some_and(|card| card.status == CallStatus::Pending)
    }

    /// Whether its card waits for an answer or for decisions. Not so a call that is made after
    /// enough people approved it.
    pub fn is_asking(&self) -> bool {
        self.g2pk.is_some()
    }

    /// Whether it may still change: its call gets a result, or a file of it is deleted.
    pub fn may_change(&self) -> bool {
        self.is_open() || self.files.iter().any(|file| !file.part.deleted)
    }

    /// Whether its reactions are in `REACT#`. A deleted message has none.
    pub fn has_reactions(&self) -> bool {
        self.reacted && self.deleted.is_none()
    }

    /// The beginning of its text. `None` if it is deleted.
    pub fn beginning(&self, chars: usize) -> Option<String> {
        self.deleted.is_none().then(|| excerpt(&self.text, chars).0.to_owned())
    }

    /// What one line shows of the message: what its card is about, its text, or the name of its
    /// first file.
    pub fn row(&self) -> String {
        let card = self.card.clone().map(ToolCard::row);
        let file = self.files.first().filter(|_| self.text.is_empty());
        let row = card.or_else(|| file.map(|file| file.part.name.clone()));
        row.unwrap_or_else(|| self.text.clone())
    }

    /// The message, as a list of spaces shows it.
    pub fn in_list(&self) -> LastMessage {
        let is_deleted = self.deleted.is_some();
        LastMessage {
            seq: self.seq,
            at: self.created_at,
            sender: self.sender.clone(),
            excerpt: (!is_deleted).then(|| excerpt(&self.row(), EXCERPT_CHARS).0.to_owned()),
            deleted: is_deleted,
        }
    }

    /// The least number of bytes that its content has.
    pub fn least_bytes(&self) -> usize {
        self.text.len() + self.more_chars + self.card.as_ref().map_or(0, ToolCard::least_bytes)
    }

    /// Whether a part of it is in `TEXT#`.
    pub(crate) fn has_overflow(&self) -> bool {
        self.more_chars > 0 || self.card.as_ref().is_some_and(ToolCard::has_overflow)
    }

    /// Puts the parts from `TEXT#` in their places.
    pub(crate) fn complete(&mut self, overflow: Overflow) {
        if let Some(text) = overflow.text {
            self.text = text;
            self.more_chars = 0;
        }
        if let Some(card) = &mut self.card {
            card.input.complete(overflow.input);
            if let Some(output) = &mut card.output {
                output.complete(overflow.output);
            }
        }
    }

    /// The part of a text that its item holds, the number of further characters, and the whole text
    /// if there are any.
    pub(crate) fn split(text: &str) -> (String, usize, Overflow) {
        let (short, more) = excerpt(text, limits::TIMELINE_CHARS);
        let overflow =
            Overflow { text: (more > 0).then(|| text.to_owned()), ..Overflow::default() };
        (short.to_owned(), more, overflow)
    }

    /// The message, as the API shows it to members of other spaces, too: without the reasons of
    /// its sender, and without the parts in other items.
    pub fn in_short(&self, space: SpaceId) -> Message {
        let message = self.clone().view(space, Overflow::default(), None);
        let short = Message { truncated: self.has_overflow(), dispatch: None, ..message };
        Message { router: None, gate: None, chain_ended: None, ..short }.without_origin()
    }

    /// The message, as the API shows it, with the parts from other items.
    pub(crate) fn view(
        self,
        space: SpaceId,
        overflow: Overflow,
        apart: Option<LongDispatch>,
    ) -> Message {
        let (dispatch, gate) = apart.map(|it| (it.dispatch, it.gate)).unzip();
        Message {
            id: self.id,
            space_id: space,
            seq: self.seq,
            rev: self.rev,
            sender: self.sender,
            parts: if self.deleted.is_some() {
                Vec::new()
            } else {
                parts(self.card, self.text, self.partial, self.files, overflow)
            },
            run_id: self.run_id,
            stream_id: self.stream_id,
            client_key: self.client_key,
            chain_depth: self.chain_depth,
            origin: self.origin,
            mentions: self.mentions,
            reply_to: self.reply_to,
            thread: self.thread,
            edited_at: self.edited_at,
            reactions: Vec::new(),
            reactions_rev: None,
            deleted: self.deleted,
            created_at: self.created_at,
            updated_at: self.updated_at,
            dispatch: self.dispatch.or(dispatch),
            router: self.router,
            gate: self.gate.or(gate.flatten()),
            chain_ended: self.chain_ended,
            truncated: false,
        }
    }
}

/// The error for a message that a space does not have.
pub(crate) fn no_such_message(seq: u64) -> Error {
    Error::NotFound(format!("this space has no message {seq}"))
}

fn parts(
    card: Option<ToolCard>,
    text: String,
    partial: bool,
    files: Vec<MessageFile>,
    overflow: Overflow,
) -> Vec<Part> {
    let card = card.map(|card| card.view(&overflow, partial));
    // The text of a card describes the progress of its call.
    let partial = partial && card.is_none();
    let is_shown = !text.is_empty() || (card.is_none() && files.is_empty());
    let text = Part::Text { text: overflow.text.unwrap_or(text), partial };
    let files = files.into_iter().map(|file| Part::File(file.part));
    card.into_iter().chain(is_shown.then_some(text)).chain(files).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn are_none(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
