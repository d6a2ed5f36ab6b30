//! The message that a caller asks to append: its sender, its content, and the right to send it.

mod card;

use smartspace_domain::{
    client_pages::ClientPage,
    ids::{ChainId, EntityId, LeaseId, MessageId, RunId, SpaceId, StreamId},
    messages::{MessageText, Origin},
    triggers::TriggerKind,
};

pub use self::card::{NewApproval, NewCard, NewForm};
use crate::{
    Result,
    attachments::FileRecord,
    idempotency::PostKey,
    runs::{
        endings::EndWithMessage,
        steps::{CallRecord, Marks},
    },
};

#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Its id, made before the first try. A repeated write recognizes its own message by it.
    pub id: MessageId,
    /// The space that it is sent to.
    pub space: SpaceId,
    /// Its sender, who must be a member.
    pub sender: EntityId,
    pub content: Content,
    /// Its files, as they were read last. They must be ready.
    pub files: Vec<FileRecord>,
    /// The number of the message to which it replies.
    pub reply_to: Option<u64>,
    /// How it came to be sent.
    pub by: MessageSource,
}

/// The content of a message.
#[derive(Clone, Debug)]
pub enum Content {
    Text(MessageText),
    /// A tool call. It triggers nobody.
    Card(Box<NewCard>),
    /// Nothing besides the message's files.
    Files,
}

impl Content {
    /// The content of a message with this text, which may be empty only if the message has files.
    pub fn of(text: String, has_files: bool) -> Result<Self> {
        if text.is_empty() && has_files {
            return Ok(Self::Files);
        }
        MessageText::try_from(text).map(Self::Text).map_err(|error| error.at("/text"))
    }

    /// The bytes that count towards the limit of the space.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.as_str().len(),
            Self::Card(card) => card.bytes(),
            Self::Files => 0,
        }
    }

    /// The text, which may trigger agents. A card has none.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            Self::Files => Some(""),
            Self::Card(_) => None,
        }
    }
}

/// How a message came to be sent.
#[derive(Clone, Debug)]
pub enum MessageSource {
    /// By a request to the HTTP or WebSocket API.
    External {
        key: Option<PostKey>,
        /// The chain depth that the caller claims.
        depth: u32,
        /// What the sender's page offers to the agents that the message triggers.
        page: Option<Box<ClientPage>>,
    },
    /// By a tool of a run.
    Run(Box<RunSender>),
}

/// The run and the call that send a message.
#[derive(Clone, Debug)]
pub struct RunSender {
    pub run: RunId,
    /// The run's depth plus one.
    pub depth: u32,
    /// The chain of the run, which the message belongs to.
    pub chain: ChainId,
    /// Why the agent sends the message.
    pub origin: Origin,
    /// The stream that the message ends.
    pub stream: StreamId,
    /// The model's answer was cut at its limit, in the middle of the text.
    pub is_cut: bool,
    /// Why the worker may still send it.
    pub authority: Authority,
}

/// Why a worker may send a message.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "`MessageSource` has it in a box")]
pub enum Authority {
    Lease {
        lease: LeaseId,
        /// The call and its result. Storing them in the same transaction makes the call happen
        /// once.
        call: CallRecord,
    },
    /// It holds the lease, and the run ends with the message.
    Last {
        /// The call and its result.
        call: CallRecord,
        /// The end of the run, which checks the lease.
        end: EndWithMessage,
    },
    /// A remote agent works on the run.
    Remote {
        lease: LeaseId,
        /// The call and its result. Its step is the number of messages that the agent has posted:
        /// of two messages at the same moment, one is refused, and its caller counts again.
        call: CallRecord,
        /// How far it had read in each space.
        marks: Marks,
        key: PostKey,
    },
    /// It was the last worker of a run that is canceled, and stores what its model had written. The
    /// message triggers nobody.
    Stopped {
        /// How often the run was claimed when the worker had it.
        claims: u32,
        /// The step and the position of the call. If the call is stored, so is its message.
        call_position: (u32, u32),
    },
}

impl Authority {
    /// The step and the position of the call.
    pub(crate) fn call_position(&self) -> (u32, u32) {
        match self {
            Self::Lease { call, .. } | Self::Last { call, .. } | Self::Remote { call, .. } => {
                (call.step, call.index)
            }
            Self::Stopped { call_position, .. } => *call_position,
        }
    }

    /// The call that is stored with the message, if the run still works.
    pub(crate) fn call(&self) -> Option<&CallRecord> {
        match self {
            Self::Lease { call, .. } | Self::Last { call, .. } | Self::Remote { call, .. } => {
                Some(call)
            }
            Self::Stopped { .. } => None,
        }
    }

    /// The end of the run, if the run ends with the message.
    pub(crate) fn end(&self) -> Option<&EndWithMessage> {
        if let Self::Last { end, .. } = self { Some(end) } else { None }
    }
}

impl MessageSource {
    /// The end of the sending run, if the run ends with the message.
    pub(crate) fn end(&self) -> Option<&EndWithMessage> {
        if let Self::Run(by) = self { by.authority.end() } else { None }
    }

    /// The idempotency key of the request, if it has one.
    pub(crate) fn key(&self) -> Option<&PostKey> {
        match self {
            Self::External { key, .. } => key.as_ref(),
            Self::Run(by) => match &by.authority {
                Authority::Remote { key, .. } => Some(key),
                _ => None,
            },
        }
    }

    /// The idempotency key of the request, as the caller gave it.
    pub(crate) fn client_key(&self) -> Option<String> {
        if let Self::External { key, .. } = self { Some(key.as_ref()?.given.clone()) } else { None }
    }

    /// What the sender's page offers to the agents that the message triggers.
    pub(crate) fn page(&self) -> Option<&ClientPage> {
        if let Self::External { page, .. } = self { page.as_deref() } else { None }
    }

    /// Whether a run sends it that a plan or a service triggered.
    pub(crate) fn is_of_outside(&self) -> bool {
        matches!(self, Self::Run(by) if by.origin.trigger.kind() != TriggerKind::SpaceMessage)
    }

    /// Whether the model had not finished the message when its run was canceled.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self, Self::Run(by) if matches!(by.authority, Authority::Stopped { .. }))
    }
    /// Whether the model has not written the text to its end.
    pub(crate) fn is_partial(&self) -> bool {
        self.is_stopped() || matches!(self, Self::Run(by) if by.is_cut)
    }
}
