//! Writes the history as a conversation (`context.history: "roles"`): the agent's own messages in
//! the role of the assistant, all others in the role of the user.

use smartspace_domain::ids::EntityId;
use smartspace_models::port::{CachePoint, Message};

use crate::prompt::{
    quoted::NameAndKind,
    reading::SpaceContext,
    timeline::{content, earlier, heading, is_seen, summary_before},
    window::Window,
};

/// The history as messages. The first one has the role of the user.
pub(crate) struct Roles {
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
    /// The end of the part that later prompts repeat unchanged.
    pub(crate) settled: Option<CachePoint>,
}

/// Writes the conversation of the space that triggered the run. Successive messages of one role are
/// joined.
pub(crate) fn roles(place: &SpaceContext, window: &Window<'_>, me: EntityId) -> Roles {
    let mut opening: Vec<String> = summary_before(place, window.first()).into_iter().collect();
    opening.push(heading(place) + &earlier(window.first(), place.member.cursor, "new to you"));
    let mut roles = Roles { messages: vec![Message::User { blocks: opening }], settled: None };
    let mut all_seen = true;
    for message in window.messages {
        let mine = message.sender.id == me;
        // A line that is joined to an assistant message changes it, so the settled part can't end
        // there. Every other line is a block of its own.
        if !(mine && matches!(roles.messages.last(), Some(Message::Assistant { .. }))) {
            roles.settled =
                CachePoint::end_of(&roles.messages).filter(|_| all_seen).or(roles.settled);
        }
        all_seen &= is_seen(message, me, place.member.cursor);
        if mine {
            roles.add_own(&content(message));
        } else {
            roles.add_other(format!("[{}] {}\n", NameAndKind(&message.sender), content(message)));
        }
    }
    roles
}

impl Roles {
    fn add_own(&mut self, line: &str) {
        if let Some(Message::Assistant { text, .. }) = self.messages.last_mut() {
            text.push('\n');
            text.push_str(line);
        } else {
            self.messages.push(Message::Assistant { text: line.to_owned(), calls: Vec::new() });
        }
    }

    fn add_other(&mut self, block: String) {
        match self.messages.last_mut() {
            Some(Message::User { blocks }) => blocks.push(block),
            _ => self.messages.push(Message::User { blocks: vec![block] }),
        }
    }

    /// Adds the text that follows the history, and returns the conversation.
    pub(crate) fn close(mut self, text: String) -> Vec<Message> {
        self.add_other(text);
        self.messages
    }
}
