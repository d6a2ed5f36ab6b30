//! What browsers are told, live. Frames are these, as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Time,
    access::KnownBy,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId, StreamId},
    limits,
    messages::{Message, Part, Sender, ToolPart},
    runs::{Run, RunStatus},
    spaces::{Member, Space},
    steps::CallStatus,
    tools::AnswerBy,
};

/// Something that happened in a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Where.
    pub space_id: SpaceId,
    /// When.
    pub at: Time,
    /// What.
    #[serde(flatten)]
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Happening {
    /// A message was kept.
    #[serde(rename = "message.created")]
    MessageCreated {
        /// It.
        message: Message,
    },
    /// A message changed: its dispatch was decided.
    #[serde(rename = "message.updated")]
    MessageUpdated {
        /// Its new state.
        message: Message,
    },
    /// An agent begins to write.
    #[serde(rename = "stream.started")]
    StreamStarted {
        /// The stream.
        stream_id: StreamId,
        /// Of which run.
        run_id: RunId,
        /// Of which call.
        call_id: CallId,
        /// Of two streams of one call the higher attempt holds.
        attempt: u32,
        /// Who writes.
        sender: Sender,
        /// What it will be.
        kind: StreamKind,
        /// Of which tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
    },
    /// More text.
    #[serde(rename = "stream.delta")]
    StreamDelta {
        /// The stream.
        stream_id: StreamId,
        /// Where it stands, in UTF-16 code units.
        offset: usize,
        /// The text.
        text: String,
    },
    /// The text so far.
    #[serde(rename = "stream.snapshot")]
    StreamSnapshot {
        /// The stream.
        stream_id: StreamId,
        /// Where it stands, in UTF-16 code units; absent at the beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<usize>,
        /// The text.
        text: String,
    },
    /// No more text.
    #[serde(rename = "stream.ended")]
    StreamEnded {
        /// The stream.
        stream_id: StreamId,
        /// The message that replaces it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
        /// Why there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<StreamEnd>,
    },
    /// A run was claimed for the first time.
    #[serde(rename = "run.started")]
    RunStarted {
        /// It.
        run: Box<Run>,
    },
    /// A run waits for people to answer its forms.
    #[serde(rename = "run.waiting_tool")]
    RunWaitingTool {
        /// It.
        run: Box<Run>,
    },
    /// A run that waited goes on.
    #[serde(rename = "run.resumed")]
    RunResumed {
        /// It.
        run: Box<Run>,
    },
    /// A run ended as it should.
    #[serde(rename = "run.completed")]
    RunCompleted {
        /// It.
        run: Box<Run>,
    },
    /// A run ended with an error.
    #[serde(rename = "run.failed")]
    RunFailed {
        /// It.
        run: Box<Run>,
    },
    /// A run was ended.
    #[serde(rename = "run.canceled")]
    RunCanceled {
        /// It.
        run: Box<Run>,
        /// The run that absorbed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<RunId>,
    },
    /// A tool asks people.
    #[serde(rename = "tool.requested")]
    ToolRequested(Box<AskedCall>),
    /// A tool that asked people has its answer, or asks no more.
    #[serde(rename = "tool.resolved")]
    ToolResolved(Box<AskedCall>),
    /// The system said something to a run's model.
    #[serde(rename = "system.message")]
    SystemMessage {
        /// Which run.
        run_id: RunId,
        /// Before which step, from 0.
        step: u32,
        /// Which watcher.
        watcher: String,
        /// What.
        text: String,
    },
    /// Someone joined.
    #[serde(rename = "member.joined")]
    MemberJoined {
        /// Who.
        member: Member,
    },
    /// Someone left, or was removed.
    #[serde(rename = "member.left")]
    MemberLeft {
        /// Who.
        entity_id: EntityId,
    },
    /// Someone read on.
    #[serde(rename = "space.read")]
    SpaceRead {
        /// Who.
        entity_id: EntityId,
        /// How far.
        seq: u64,
    },
    /// The space's settings changed.
    #[serde(rename = "space.updated")]
    SpaceUpdated {
        /// Its new state.
        space: Box<Space>,
    },
    /// The space is gone.
    #[serde(rename = "space.deleted")]
    SpaceDeleted,
    /// To an entity's own connections: it is in the space now.
    #[serde(rename = "space.joined")]
    SpaceJoined {
        /// The space, with the entity's own place in it.
        space: Box<Space>,
    },
    /// To an entity's own connections: it is not in the space any more.
    #[serde(rename = "space.left")]
    SpaceLeft,
}

/// A tool call that people answer. Where it is too long for a frame its input and schema are left out: the message holds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedCall {
    /// Of which run.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// Its card.
    pub message_id: MessageId,
    /// The tool.
    pub name: String,
    /// What it was called with.
    pub input: Value,
    /// `form`, `buttons`, or a component that the client knows.
    pub ui: String,
    /// JSON Schema of the answer.
    pub result_schema: Option<Value>,
    /// Who may answer.
    pub answer_by: Option<AnswerBy>,
    /// Until when.
    pub expires_at: Option<Time>,
    /// Who answered; null also where the operator did.
    pub resolved_by: Option<EntityId>,
    /// How it stands.
    pub status: CallStatus,
}

impl AskedCall {
    /// What a card asks; none where it asks nobody.
    pub fn of(card: &Message) -> Option<Self> {
        let Part::Tool(tool) = card.parts.first()?.clone() else { return None };
        let ToolPart { call_id, name, input, ui, result_schema, answer_by, resolved_by, expires_at, status, .. } = *tool;
        let (run_id, message_id, ui) = (card.run_id?, card.id, ui?);
        Some(Self { run_id, call_id, message_id, name, input, ui, result_schema, answer_by, expires_at, resolved_by, status })
    }
}

/// What a stream will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamKind {
    /// A message.
    Message,
    /// A tool's input.
    Tool,
}

/// Why a stream ended without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamEnd {
    /// Its run was canceled.
    Canceled,
    /// Its run was absorbed.
    Absorbed,
    /// Its run, or the model's answer, failed.
    Failed,
}

/// A run that is active in a space, as `subscribed` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveRun {
    /// The run.
    pub run_id: RunId,
    /// Whose.
    pub agent_id: EntityId,
    /// Its state.
    pub status: RunStatus,
}

/// The arms of a match over all that a run's events have in common.
macro_rules! run_events {
    ($run:ident) => {
        Happening::RunStarted { run: $run }
            | Happening::RunWaitingTool { run: $run }
            | Happening::RunResumed { run: $run }
            | Happening::RunCompleted { run: $run }
            | Happening::RunFailed { run: $run }
            | Happening::RunCanceled { run: $run, .. }
    };
}

impl Happening {
    /// The run that it is about.
    fn run(&self) -> Option<&Run> {
        if let run_events!(run) = self { Some(run) } else { None }
    }

    fn run_mut(&mut self) -> Option<&mut Run> {
        if let run_events!(run) = self { Some(run) } else { None }
    }
}

impl Event {
    /// The frame that browsers get, a JSON text of at most 30 KiB: a longer message, or a longer trigger of a run, travels cut.
    pub fn to_frame(&self) -> String {
        let whole = json(self);
        if whole.len() <= limits::FRAME_BYTES {
            return whole;
        }
        // Escaping makes a text longer by up to six times, so that the fitting length is found by trying.
        let mut bytes = limits::SOCKET_TEXT_BYTES;
        loop {
            let frame = json(&self.cut_to(bytes));
            if frame.len() <= limits::FRAME_BYTES || bytes == 0 {
                return frame;
            }
            bytes /= 2;
        }
    }

    fn cut_to(&self, bytes: usize) -> Self {
        let mut event = self.clone();
        match &mut event.what {
            Happening::MessageCreated { message } | Happening::MessageUpdated { message } => {
                *message = message.clone().cut_to(bytes);
                if bytes < limits::TIMELINE_CHARS {
                    // Hundreds of agents: who was woken is fetched over HTTP too.
                    message.dispatch = None;
                    message.truncated = true;
                }
            }
            Happening::ToolRequested(asked) | Happening::ToolResolved(asked) => {
                (asked.input, asked.result_schema) = (Value::Null, None);
            }
            Happening::SystemMessage { text, .. } => text.truncate(text.floor_char_boundary(bytes)),
            Happening::SpaceUpdated { space } | Happening::SpaceJoined { space } => space.members.truncate(bytes / 256),
            _ => {}
        }
        if let Some(run) = event.what.run_mut() {
            run.trigger = run.trigger.clone().cut_to(bytes / 4);
        }
        event
    }

    /// Whether only the operator is told: what a model reads of its agent, and of other spaces, is for nobody else.
    pub fn is_for_operator(&self) -> bool {
        matches!(&self.what, Happening::SystemMessage { watcher, .. } if ["news", "start"].contains(&watcher.as_str()))
    }

    /// Who may know the whole of it, where not all who follow the space do: a message's origin may name another space, and where a run went.
    pub fn known_by(&self) -> Option<KnownBy> {
        match &self.what {
            Happening::MessageCreated { message } | Happening::MessageUpdated { message } => message.known_by(),
            what => what.run()?.known_by(self.space_id),
        }
    }

    /// The same for who may not know the whole.
    #[must_use]
    pub fn for_others(&self) -> Self {
        let mut event = self.clone();
        match &mut event.what {
            Happening::MessageCreated { message } | Happening::MessageUpdated { message } => *message = message.clone().without_origin(),
            what => {
                if let Some(run) = what.run_mut() {
                    *run = run.clone().without_active_space();
                }
            }
        }
        event
    }
}

/// Events are made of what JSON can say; an error is a fault of ours and shows as an empty frame.
fn json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_message_fits_a_frame() {
        let (space_id, run_id) = (SpaceId::new(Time::default(), 1), RunId::new(Time::default(), 1));
        for text in ["\u{1}".repeat(20_000), "語".repeat(40_000)] {
            let what = Happening::SystemMessage { run_id, step: 1, watcher: "news".into(), text: text.clone() };
            let frame = Event { space_id, at: Time::default(), what }.to_frame();
            assert!(frame.len() <= limits::FRAME_BYTES, "{}", frame.len());
            let Happening::SystemMessage { text: shown, .. } = serde_json::from_str::<Event>(&frame).unwrap().what else {
                panic!("{frame}")
            };
            assert!(shown.len() > 1_000 && text.starts_with(&shown));
        }
    }
}
