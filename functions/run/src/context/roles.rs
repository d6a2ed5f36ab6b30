//! The history as a conversation (`context.history: "roles"`): own messages in the model's role, all others in the user's.

use smartspace_domain::ids::EntityId;
use smartspace_models::port::{CachePoint, Message};

use super::{
    quoted::Who,
    reading::Place,
    timeline::{content, earlier, heading, is_seen, summary_before},
    window::Window,
};

/// The history as messages. It begins in the user's role.
pub(crate) struct Roles {
    /// The messages, oldest first.
    pub(crate) messages: Vec<Message>,
    /// The end of what comes again as it is.
    pub(crate) settled: Option<CachePoint>,
}

/// Writes the conversation of the space that woke the run; neighbours of one role are joined.
pub(crate) fn roles(place: &Place, window: &Window<'_>, me: EntityId) -> Roles {
    let mut opening: Vec<String> = summary_before(place, window.first()).into_iter().collect();
    opening.push(heading(place) + &earlier(window.first(), place.member.cursor, "new to you"));
    let mut roles = Roles { messages: vec![Message::User { blocks: opening }], settled: None };
    let mut all_seen = true;
    for message in window.messages {
        let mine = message.sender.id == me;
        // What is joined to one's own text changes it; every other line is a block of its own.
        if !(mine && matches!(roles.messages.last(), Some(Message::Assistant { .. }))) {
            roles.settled = CachePoint::end_of(&roles.messages).filter(|_| all_seen).or(roles.settled);
        }
        all_seen &= is_seen(message, me, place.member.cursor);
        roles.say(mine, if mine { content(message) } else { format!("[{}] {}", Who(&message.sender), content(message)) });
    }
    roles
}

impl Roles {
    fn say(&mut self, mine: bool, line: String) {
        match (self.messages.last_mut(), mine) {
            (Some(Message::Assistant { text, .. }), true) => {
                text.push('\n');
                text.push_str(&line);
            }
            (_, true) => self.messages.push(Message::Assistant { text: line, calls: Vec::new() }),
            (Some(Message::User { blocks }), false) => blocks.push(line + "\n"),
            (_, false) => self.messages.push(Message::User { blocks: vec![line + "\n"] }),
        }
    }

    /// Adds what stands behind the history.
    pub(crate) fn close(mut self, text: String) -> Vec<Message> {
        match self.messages.last_mut() {
            Some(Message::User { blocks }) => blocks.push(text),
            _ => self.messages.push(Message::User { blocks: vec![text] }),
        }
        self.messages
    }
}
