//! Live events: what clients get over the WebSocket (docs/reference/live.md).
//!
//! A frame is one event as JSON. `frames` cuts events that are too long for a frame, and hides what
//! a receiver may not know.

mod asked_call;
mod frames;
mod inbox;
mod mentions;
mod pieces;
mod presence;
mod reactions;
mod read_positions;

use serde::{Deserialize, Serialize};

pub use self::{
    asked_call::AskedCall, inbox::InboxChange, pieces::pieces, presence::Present,
    reactions::MessageReactions, read_positions::ReadPosition,
};
use crate::{
    Time,
    identity::Sender,
    ids::{AttachmentId, CallId, EntityId, MessageId, RunId, SpaceId, StreamId},
    inbox::InboxState,
    mentions::MentionWhy,
    messages::Message,
    runs::{Run, RunStatus},
    spaces::{LastMessage, Member, Space},
    steps::LiveStep,
    stored::{self, tolerant},
    system_lines::SystemLine,
};

/// An event in a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The space.
    pub space_id: SpaceId,
    /// When it happened.
    pub at: Time,
    /// What happened.
    #[serde(flatten)]
    pub what: EventKind,
}

/// What happened in an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// A message was posted.
    #[serde(rename = "message.created")]
    MessageCreated {
        /// The message.
        message: Message,
    },
    /// A message changed: its card changed, or its dispatch was decided.
    #[serde(rename = "message.updated")]
    MessageUpdated {
        /// The message's new state.
        message: Message,
    },
    /// A file was uploaded, and messages may name it.
    #[serde(rename = "attachment.ready")]
    AttachmentReady {
        /// The file.
        attachment_id: AttachmentId,
    },
    /// An agent starts to write.
    #[serde(rename = "stream.started")]
    StreamStarted {
        /// The stream.
        stream_id: StreamId,
        /// The run that writes.
        run_id: RunId,
        /// The tool call that is written.
        call_id: CallId,
        /// A stream of the same call with a higher attempt replaces this one.
        attempt: u32,
        /// The agent that writes.
        sender: Sender,
        /// What the stream shows.
        kind: StreamKind,
        /// The tool, if the stream shows a tool's input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
    },
    /// More text.
    #[serde(rename = "stream.delta")]
    StreamDelta {
        /// The stream.
        stream_id: StreamId,
        /// The position of the text in the stream, in UTF-16 code units.
        offset: usize,
        /// The text.
        text: String,
    },
    /// The text so far.
    #[serde(rename = "stream.snapshot")]
    StreamSnapshot {
        /// The stream.
        stream_id: StreamId,
        /// The position of the text in the stream, in UTF-16 code units; absent if it is 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<usize>,
        /// The text.
        text: String,
    },
    /// A stream has ended.
    #[serde(rename = "stream.ended")]
    StreamEnded {
        /// The stream.
        stream_id: StreamId,
        /// The message that replaces the stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
        /// Why no message replaces the stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<StreamEnd>,
    },
    /// A run waits in its lane or for a slot: other runs of its agent come first.
    #[serde(rename = "run.queued")]
    RunQueued {
        /// The run.
        run: Box<Run>,
        /// Its position among those that wait; 1 is the next one.
        position: usize,
    },
    /// A run was claimed for the first time.
    #[serde(rename = "run.started")]
    RunStarted {
        /// The run.
        run: Box<Run>,
    },
    /// A run waits for answers to its forms.
    #[serde(rename = "run.waiting_tool")]
    RunWaitingTool {
        /// The run.
        run: Box<Run>,
    },
    /// A run that waited for forms continues.
    #[serde(rename = "run.resumed")]
    RunResumed {
        /// The run.
        run: Box<Run>,
    },
    /// A run ended as intended.
    #[serde(rename = "run.completed")]
    RunCompleted {
        /// The run.
        run: Box<Run>,
        /// How far the agent has read the space of the event. Absent if the run has not read it,
        /// or if the agent has left it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read_seq: Option<u64>,
    },
    /// A run ended with an error.
    #[serde(rename = "run.failed")]
    RunFailed {
        /// The run.
        run: Box<Run>,
    },
    /// A run was canceled.
    #[serde(rename = "run.canceled")]
    RunCanceled {
        /// The run.
        run: Box<Run>,
        /// The run that absorbed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<RunId>,
    },
    /// A run works on a step: it began, one of its calls began or ended, or it ended itself.
    /// Members get less of it than the operator.
    #[serde(rename = "run.step")]
    RunStep {
        /// The run.
        run_id: RunId,
        /// The step.
        step: Box<LiveStep>,
    },
    /// A form was opened.
    #[serde(rename = "tool.requested")]
    ToolRequested(Box<AskedCall>),
    /// A form was closed: it has an answer, has expired, or was canceled.
    #[serde(rename = "tool.resolved")]
    ToolResolved(Box<AskedCall>),
    /// A watcher added a message for a run's model.
    #[serde(rename = "system.message")]
    SystemMessage {
        /// The run.
        run_id: RunId,
        /// The index of the step that the message precedes.
        step: u32,
        /// The watcher.
        watcher: String,
        /// The text of the message.
        text: String,
        /// Only the operator gets the event.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        private: bool,
    },
    /// A member joined the space.
    #[serde(rename = "member.joined")]
    MemberJoined {
        /// The member.
        member: Member,
    },
    /// A member left the space, or was removed.
    #[serde(rename = "member.left")]
    MemberLeft {
        /// The member.
        entity_id: EntityId,
    },
    /// A member moved its read position, or several did.
    #[serde(rename = "space.read")]
    SpaceRead {
        /// The member.
        entity_id: EntityId,
        /// The last message that it has read.
        seq: u64,
        /// All members that moved theirs, if several did within a moment, including this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reads: Vec<ReadPosition>,
        /// How many tool cards there are up to `seq`. Only the member's own connections get it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cards: Option<u64>,
    },
    /// Sent to the connections of the people of the space and of the operator that do not follow
    /// it: there are new messages, or the last one changed.
    #[serde(rename = "space.activity")]
    SpaceActivity {
        /// The last message.
        last_message: LastMessage,
        /// The position of the last message.
        seq: u64,
        /// How many messages of the space are tool cards.
        cards: u64,
    },
    /// Members reacted to messages, or took reactions back.
    #[serde(rename = "reactions")]
    Reactions {
        /// The messages whose reactions changed within a moment.
        items: Vec<MessageReactions>,
    },
    /// The entities that are present in the space, and those that type.
    #[serde(rename = "presence")]
    Presence {
        /// The entities that are present, in the order of their ids.
        present: Vec<Present>,
        /// Which of them type.
        typing: Vec<EntityId>,
        /// How many are present, if `present` does not list all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<usize>,
    },
    /// The space's settings or a member's role changed.
    #[serde(rename = "space.updated")]
    SpaceUpdated {
        /// The space's new state.
        space: Box<Space>,
    },
    /// A line between the messages says what has changed in the space.
    #[serde(rename = "space.line")]
    SpaceLine {
        /// The line.
        line: SystemLine,
    },
    /// The space was deleted.
    #[serde(rename = "space.deleted")]
    SpaceDeleted,
    /// Sent to the connections of an entity that is now a member of the space.
    #[serde(rename = "space.joined")]
    SpaceJoined {
        /// The space as the entity sees it.
        space: Box<Space>,
    },
    /// Sent to the connections of an entity that is no longer a member of the space.
    #[serde(rename = "space.left")]
    SpaceLeft,
    /// Sent to the connections of an entity that a card of the space names: the card waits for the
    /// entity, or no longer waits.
    #[serde(rename = "inbox")]
    Inbox {
        /// The call that the card shows.
        call_id: CallId,
        /// Whether it waits.
        state: InboxState,
    },
    /// Sent to the connections of a person: a new message mentions it, or replies to it.
    #[serde(rename = "mention")]
    Mention {
        /// The message's id.
        message_id: MessageId,
        /// The message's position in the space.
        seq: u64,
        /// Why the person gets the event.
        why: MentionWhy,
        /// Who sent the message.
        sender: Sender,
    },
}

/// What a stream shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum StreamKind {
    /// The text of a message.
    Message,
    /// The raw input of a tool call.
    Tool,
}

tolerant!(StreamKind);

/// Why a stream ended without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum StreamEnd {
    /// The run was canceled.
    Canceled,
    /// Another run absorbed the run.
    Absorbed,
    /// The run, the call or the model's answer failed.
    Failed,
}

tolerant!(StreamEnd);

/// An active run of a space, as the answer `subscribed` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveRun {
    /// The run.
    pub run_id: RunId,
    /// The run's agent.
    pub agent_id: EntityId,
    /// The run's status.
    #[serde(deserialize_with = "stored::read")]
    pub status: RunStatus,
}
