//! A message before it is stored.

mod card;

use smartspace_domain::{
    ids::{EntityId, LeaseId, MessageId, RunId, SpaceId, StreamId},
    messages::{MessageText, Origin},
};

pub use self::card::{NewCard, NewForm};
use crate::{idempotency::PostKey, runs::steps::CallRecord};

/// A message to be stored.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Its id, made before the first try. A repeated write recognizes its own message by it.
    pub id: MessageId,
    /// The space that it is sent to.
    pub space: SpaceId,
    /// Its sender, who must be a member.
    pub sender: EntityId,
    /// Its content.
    pub content: Content,
    /// How it came to be sent.
    pub by: MessageSource,
}

/// The content of a message.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text.
    Text(MessageText),
    /// A tool call. It triggers nobody.
    Card(Box<NewCard>),
}

impl Content {
    /// The bytes that count towards the limit of the space.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.as_str().len(),
            Self::Card(card) => card.bytes(),
        }
    }
}

/// How a message came to be sent.
#[derive(Clone, Debug)]
pub enum MessageSource {
    /// By a request to the HTTP or WebSocket API.
    External {
        /// The caller's idempotency key.
        key: Option<PostKey>,
        /// The chain depth that the caller claims.
        depth: u32,
    },
    /// By a tool of a run.
    Run(Box<ByRun>),
}

/// The run and the call that send a message.
#[derive(Clone, Debug)]
pub struct ByRun {
    /// The run.
    pub run: RunId,
    /// The worker's lease.
    pub lease: LeaseId,
    /// The run's depth plus one.
    pub depth: u32,
    /// Why the agent sends the message.
    pub origin: Origin,
    /// The stream that the message ends.
    pub stream: StreamId,
    /// The call and its result. Storing them in the same transaction makes the call happen once.
    pub call: CallRecord,
}
