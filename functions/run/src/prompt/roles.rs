//! Writes the history as a conversation (`context.history: "roles"`): the agent's own messages in
//! the role of the assistant, all others in the role of the user.

use smartspace_models::port::{CachePoint, Message};

use smartspace_store::{
    messages::MessageRecord,
    runs::places::{Passage, Places},
};

use crate::prompt::{
    format::Name,
    lines::{Lines, call, content, file_lines, heading, outcome, reply_mark, tombstone},
    placed::Placed,
    reading::SpaceContext,
    timeline::write_before,
    window::Window,
};

/// The history as messages. The first one has the role of the user.
pub(crate) struct Roles {
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
    /// The end of the part that later prompts repeat unchanged.
    pub(crate) settled: Option<CachePoint>,
    /// Where they have words of messages of spaces.
    pub(crate) places: Places,
}

/// Writes the conversation of the space that triggered the run. Successive messages of one role are
/// joined. The outcome of the agent's own calls, which people and services wrote, has the role of
/// the user.
pub(crate) fn write_roles(
    trigger_space: &SpaceContext,
    window: &Window<'_>,
    lines: &Lines<'_>,
) -> Roles {
    let mut roles = Roles { messages: Vec::new(), settled: None, places: Places::default() };
    for block in write_before(trigger_space, window.first_seq(), lines) {
        roles.add_other(&block);
    }
    let title = heading(trigger_space) + &lines.earlier(window.first_seq());
    roles.add_other(&Placed::plain(title));
    let mut all_seen = true;
    for message in window.messages {
        let mine = message.sender.id == lines.me;
        // A line that is joined to an assistant message changes it, so the settled part can't end
        // there. Every other line is a block of its own.
        if !(mine && matches!(roles.messages.last(), Some(Message::Assistant { .. }))) {
            roles.settled =
                CachePoint::end_of(&roles.messages).filter(|_| all_seen).or(roles.settled);
        }
        all_seen &= lines.is_seen(message);
        let place = lines.place_of(message);
        match (&message.card, outcome(lines.names, message)) {
            _ if message.deleted.is_some() => {
                let line = tombstone(message).unwrap_or_default();
                if mine {
                    roles.add_own(&Placed::plain(line.trim_end()));
                } else {
                    roles.add_other(&Placed::plain(line));
                }
            }
            (Some(card), Some(outcome)) if mine => {
                roles.add_own(&Placed::of(place, call(card)));
                let result = format!("[result of {}] {outcome}\n", Name(&card.name));
                roles.add_other(&Placed::of(place, result));
            }
            _ if mine => {
                let own = content_and_files(lines, message);
                roles.add_own(&Placed::of(place, own.trim_end()));
            }
            _ => {
                let others = line(lines, message) + &file_lines(&message.files);
                roles.add_other(&Placed::of(place, others));
            }
        }
    }
    roles
}

/// Writes a message of the agent itself.
fn content_and_files(lines: &Lines<'_>, message: &MessageRecord) -> String {
    format!("{}\n{}", content(lines.names, message), file_lines(&message.files))
}

/// Writes a message of somebody else.
fn line(lines: &Lines<'_>, message: &MessageRecord) -> String {
    if let Some(tombstone) = tombstone(message) {
        return tombstone;
    }
    let content = content(lines.names, message);
    format!(
        "{}#{} {} {} {} ({}){}: {content}\n",
        if lines.is_seen(message) { "" } else { "[NEW] " },
        message.seq,
        message.created_at.to_date(),
        message.created_at.to_minutes(),
        lines.names.of(&message.sender),
        message.sender.kind.as_str(),
        reply_mark(message),
    )
}

impl Roles {
    fn add_own(&mut self, line: &Placed) {
        let from = if let Some(Message::Assistant { text, .. }) = self.messages.last_mut() {
            text.push('\n');
            text.push_str(&line.text);
            text.len() - line.len()
        } else {
            let text = line.text.clone();
            self.messages.push(Message::Assistant { text, calls: Vec::new(), own: None });
            0
        };
        let at = format!("/messages/{}/text", self.messages.len() - 1);
        let places = line.places_at(&at);
        self.places.0.extend(places.map(|place| Passage {
            from: place.from + from,
            to: place.to + from,
            ..place
        }));
    }

    fn add_other(&mut self, block: &Placed) {
        let text = block.text.clone();
        let index = if let Some(Message::User { blocks }) = self.messages.last_mut() {
            blocks.push(text);
            blocks.len() - 1
        } else {
            self.messages.push(Message::User { blocks: vec![text] });
            0
        };
        let at = format!("/messages/{}/blocks/{index}", self.messages.len() - 1);
        self.places.0.extend(block.places_at(&at));
    }

    /// Adds the text that follows the history, and returns the conversation.
    pub(crate) fn close(mut self, text: &Placed) -> (Vec<Message>, Places) {
        self.add_other(text);
        (self.messages, self.places)
    }
}
