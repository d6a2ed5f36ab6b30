//! What a door tells its client.

use smartspace_domain::{
    events::AskedCall,
    ids::{RunId, StreamId},
    messages::{Message, Part, Sender, ToolPart},
    runs::{RunError, RunStatus},
};

use crate::files::LinkedFile;

/// Something that a door tells its client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// A run of the turn works.
    RunStarted { run: RunId, agent: String },
    /// It has ended.
    RunEnded { run: RunId, status: RunStatus, error: Option<RunError> },
    /// A run of the turn begins to write a message.
    TextStarted { stream: StreamId, run: RunId, sender: Sender },
    /// More of it.
    Text { stream: StreamId, text: String },
    /// The message is posted. `rest` is what was not told of its text, or `None` if the text that
    /// was told is not its text.
    TextEnded { stream: StreamId, rest: Option<String>, message: Box<Message> },
    /// No message will have the text that was told.
    TextDropped { stream: StreamId },
    /// A message of which nothing was told before.
    Message(Box<Message>),
    /// A message that shows a tool call.
    Card(Box<Message>),
    /// The call on a card has its result.
    CardEnded(Box<Message>),
    /// The files of a message, or of a card whose call has its result. This follows it.
    Files { message: Box<Message>, files: Vec<LinkedFile> },
}

/// How a turn ends: what is still open, and why it failed.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Runs that were told to have started, and wait for people or still work.
    pub(crate) open: Vec<(RunId, RunStatus)>,
    /// Forms of the turn that the reader may answer.
    pub(crate) forms: Vec<AskedCall>,
    /// Why all runs of the turn failed, if they did.
    pub(crate) failure: Option<RunError>,
}

/// The tool call that a message shows.
pub(crate) fn card_of(message: &Message) -> Option<&ToolPart> {
    message.parts.iter().find_map(|part| match part {
        Part::Tool(tool) => Some(&**tool),
        Part::Text { .. } | Part::File(_) => None,
    })
}
