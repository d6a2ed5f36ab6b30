//! Writes the lines of a history: of the prompt, of the news, and of what a summary is made from.

use smartspace_domain::{
    Time,
    agents::ContextFormat,
    attachments::{FilePart, written_size},
    ids::{EntityId, SpaceId},
};
use smartspace_store::{
    messages::{MessageFile, MessageRecord, ToolCard},
    spaces::rosters::MemberRecord,
};

use crate::prompt::{
    format_1, format_2,
    names::Names,
    quoted::{CardJson, CutText, Name, Quoted, Thousands},
    reading::SpaceContext,
};

/// How the messages of a space are written for one agent.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub(crate) format: ContextFormat,
    pub(crate) names: &'a Names,
    pub(crate) space: SpaceId,
    /// The agent.
    pub(crate) me: EntityId,
    /// The last message that it has read.
    pub(crate) cursor: u64,
    /// The message that triggered it, or 0.
    pub(crate) trigger: u64,
}

impl<'a> Lines<'a> {
    /// The lines of a space for its member.
    pub(crate) fn of(
        format: ContextFormat,
        names: &'a Names,
        space: SpaceId,
        member: &MemberRecord,
    ) -> Self {
        let MemberRecord { entity_id: me, cursor, .. } = *member;
        Self { format, names, space, me, cursor, trigger: 0 }
    }

    /// Whether the agent has seen a message: it is its own, or an earlier run has read it.
    pub(crate) fn is_seen(&self, message: &MessageRecord) -> bool {
        is_seen(message, self.me, self.cursor)
    }

    /// Writes the title of the history.
    pub(crate) fn heading(&self, place: &SpaceContext) -> String {
        match self.format {
            ContextFormat::One => format_1::lines::heading(place),
            ContextFormat::Two => format_2::lines::heading(place),
        }
    }

    /// Writes how many messages precede the window, and how many of them are new. `new` is the word
    /// for these. Messages that are counted here count as read in later prompts.
    pub(crate) fn earlier(&self, first: u64, new: &str) -> String {
        if first <= 1 {
            return String::new();
        }
        let count = (first - 1).saturating_sub(self.cursor);
        let new =
            if count > 0 { format!(", {} of them {new}", Thousands(count)) } else { String::new() };
        format!(
            "{}… {} earlier messages{new}; read_messages({{\"before\":{first}}}) shows them\n",
            self.indent(),
            Thousands(first - 1)
        )
    }

    /// Writes the lines of a message. A message of the agent itself also shows why it was sent.
    pub(crate) fn entry(&self, message: &MessageRecord) -> String {
        let Self { me, cursor, trigger, .. } = *self;
        let entry = match self.format {
            ContextFormat::One => format_1::lines::entry(message, me, cursor, trigger),
            ContextFormat::Two => format_2::lines::entry(self, message),
        };
        entry + &self.files(message)
    }

    /// Writes the line of a message without the reason, which may name another space.
    pub(crate) fn line(&self, message: &MessageRecord) -> String {
        let Self { me, cursor, trigger, .. } = *self;
        let line = match self.format {
            ContextFormat::One => format_1::lines::line(message, me, cursor, trigger),
            ContextFormat::Two => format_2::lines::line(self, message),
        };
        line + &self.files(message)
    }

    /// Writes a line for each file of a message.
    pub(crate) fn files(&self, message: &MessageRecord) -> String {
        file_lines(self.indent(), &message.files)
    }

    /// Writes the day of a message, unless the message before it is of the same day.
    pub(crate) fn day(&self, before: Option<Time>, at: Time) -> String {
        let day = at.to_date();
        match self.format {
            ContextFormat::Two if before.is_none_or(|before| before.to_date() != day) => {
                format!("{day} UTC\n")
            }
            _ => String::new(),
        }
    }

    /// The blanks before a line of the history.
    pub(crate) fn indent(&self) -> &'static str {
        match self.format {
            ContextFormat::One => "  ",
            ContextFormat::Two => "",
        }
    }
}

/// Whether an agent has seen a message: it is its own, or an earlier run has read it.
pub(crate) fn is_seen(message: &MessageRecord, me: EntityId, cursor: u64) -> bool {
    message.sender.id == me || message.seq <= cursor
}

/// Writes which other messages the run answers.
pub(crate) fn joined(place: Option<&SpaceContext>) -> String {
    let Some(place) = place.filter(|place| !place.joined.is_empty()) else { return String::new() };
    let numbers: Vec<_> = place.joined.iter().map(|seq| format!("#{seq}")).collect();
    format!("Answer these messages, too: {}\n", numbers.join(", "))
}

/// Writes a line for each file of a message, after these blanks.
pub(crate) fn file_lines<'a>(
    indent: &str,
    files: impl IntoIterator<Item = &'a MessageFile>,
) -> String {
    let mut lines = String::new();
    for (index, file) in files.into_iter().enumerate() {
        lines.push_str(indent);
        lines.push_str(&file_line(index + 1, &file.part));
        lines.push('\n');
    }
    lines
}

/// Writes the line of a file: `[file #2 "plan.pdf" (application/pdf, 120 KB) att_…]`. `number`
/// counts the files of its message.
pub(crate) fn file_line(number: usize, file: &FilePart) -> String {
    let FilePart { attachment_id, name, content_type, bytes, .. } = file;
    let size = written_size(*bytes);
    format!("[file #{number} {} ({content_type}, {size}) {attachment_id}]", Quoted(name))
}

/// Writes the text of a message, or the call and the outcome of a card.
pub(crate) fn content(message: &MessageRecord) -> String {
    let Some(card) = &message.card else {
        let text = CutText { text: &message.text, more: message.more_chars };
        // The run was canceled while its model wrote the text.
        return if message.partial { format!("{text} (stopped)") } else { text.to_string() };
    };
    match outcome(message) {
        Some(outcome) => format!("{} {outcome}", call(card)),
        None => format!("{} ({})", call(card), card.status.as_str()),
    }
}

/// Writes the call that a card shows.
pub(crate) fn call(card: &ToolCard) -> String {
    format!("[tool {}] input={}", Name(&card.name), CardJson(&card.input))
}

/// Writes the outcome of the call that a message shows. `None` if there is none yet.
pub(crate) fn outcome(message: &MessageRecord) -> Option<String> {
    let card = message.card.as_ref()?;
    let output = card.output.as_ref()?;
    Some(format!("output={} ({})", CardJson(output), card.status.as_str()))
}
