//! The events of a turn, in the order in which clients process them.

use smartspace_client::LinkedFile;
use smartspace_domain::{
    events::AskedCall,
    ids::{RunId, StreamId},
    messages::{Message, Sender},
    runs::{RunError, RunStatus},
};

/// An event of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TurnEvent {
    /// A run of the turn has started.
    RunStarted { run: RunId, agent: String },
    /// A run that waited for people goes on.
    RunResumed { run: RunId },
    /// A run has ended. All its texts have ended before.
    RunEnded { run: RunId, status: RunStatus, error: Option<RunError> },
    /// A run starts to write a message.
    TextStarted { stream: StreamId, run: RunId, sender: Sender },
    /// More text of a message that is being written.
    TextDelta { stream: StreamId, text: String },
    /// A message that was being written is posted. `rest` is the part of its text after the deltas,
    /// or `None` if the deltas are not the beginning of its text.
    TextEnded { stream: StreamId, rest: Option<String>, message: Box<Message> },
    /// The text of the deltas will not be posted.
    TextDropped { stream: StreamId },
    /// A message without deltas. `in_turn` says whether a run of the turn has sent it.
    Message { message: Box<Message>, in_turn: bool },
    /// A message that shows a tool call. `may_answer` says whether the caller may answer its form.
    Card { message: Box<Message>, may_answer: bool },
    /// The call on a card has a result.
    CardEnded(Box<Message>),
    /// The files of a message or of a card. Follows `TextEnded`, `Message` or `CardEnded`.
    Files { message: Box<Message>, files: Vec<LinkedFile>, in_turn: bool },
}

/// The state of a turn at the end of its events.
#[derive(Debug)]
pub(crate) struct TurnEnd {
    /// Runs that have started and not ended: they wait for people or still work.
    pub(crate) open_runs: Vec<(RunId, RunStatus)>,
    /// Forms of the turn that the caller may answer, and calls that it may decide, oldest first.
    pub(crate) forms: Vec<AskedCall>,
    /// The error of a run, if all runs of the turn have failed.
    pub(crate) failure: Option<RunError>,
}
