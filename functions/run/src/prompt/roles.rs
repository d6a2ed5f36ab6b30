//! Writes the history as a conversation (`context.history: "roles"`): the agent's own messages in
//! the role of the assistant, all others in the role of the user.

use smartspace_models::port::{CachePoint, Message};

use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    format::Name,
    lines::{Lines, call, content, file_lines, heading, outcome},
    reading::SpaceContext,
    timeline::write_summary_before,
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
/// joined. The outcome of the agent's own calls, which people and services wrote, has the role of
/// the user.
pub(crate) fn write_roles(
    trigger_space: &SpaceContext,
    window: &Window<'_>,
    lines: &Lines<'_>,
) -> Roles {
    let mut opening: Vec<String> =
        write_summary_before(trigger_space, window.first_seq()).into_iter().collect();
    opening.push(heading(trigger_space) + &lines.earlier(window.first_seq()));
    let mut roles = Roles { messages: vec![Message::User { blocks: opening }], settled: None };
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
        match (&message.card, outcome(lines.names, message)) {
            (Some(card), Some(outcome)) if mine => {
                roles.add_own(&call(card));
                roles.add_other(format!("[result of {}] {outcome}\n", Name(&card.name)));
            }
            _ if mine => roles.add_own(content_and_files(lines, message).trim_end()),
            _ => roles.add_other(line(lines, message) + &file_lines(&message.files)),
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
    let content = content(lines.names, message);
    format!(
        "{}#{} {} {} {} ({}): {content}\n",
        if lines.is_seen(message) { "" } else { "[NEW] " },
        message.seq,
        message.created_at.to_date(),
        message.created_at.to_minutes(),
        lines.names.of(&message.sender),
        message.sender.kind.as_str(),
    )
}

impl Roles {
    fn add_own(&mut self, line: &str) {
        if let Some(Message::Assistant { text, .. }) = self.messages.last_mut() {
            text.push('\n');
            text.push_str(line);
        } else {
            let text = line.to_owned();
            self.messages.push(Message::Assistant { text, calls: Vec::new(), own: None });
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
