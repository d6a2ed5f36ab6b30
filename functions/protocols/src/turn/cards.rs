//! The cards among messages: those that show a tool call, and the forms among them.

use smartspace_domain::{
    messages::{Message, Part, ToolPart},
    steps::CallStatus,
};

/// The tool call that a message shows.
pub(crate) fn card_of(message: &Message) -> Option<&ToolPart> {
    message.parts.iter().find_map(|part| match part {
        Part::Tool(tool) => Some(&**tool),
        Part::Text { .. } | Part::File(_) => None,
    })
}

/// Whether a message shows a form that waits for an answer.
pub(crate) fn is_open_form(message: &Message) -> bool {
    card_of(message).is_some_and(|card| card.ui.is_some() && card.status == CallStatus::Pending)
}
