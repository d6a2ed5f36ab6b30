//! Writes the lines of a history: of the prompt, of the news, and of the text that a summary is
//! made from. A line has the number of the message, its time in minutes and the name of its sender.
//! Types and ids stand once, in `YOUR SPACES`.

use smartspace_domain::{
    Time,
    attachments::{FilePart, written_size},
    dispatch::{ChainEnded, ChainLimit},
    forms::FormAnswer,
    ids::{EntityId, SpaceId},
    jobs::MessageRef,
    limits::TIMELINE_CHARS,
    steps::CallStatus,
};
use smartspace_store::{
    messages::{MessageFile, MessageRecord, ToolCard},
    runs::places::deleted_mark,
    spaces::rosters::MemberRecord,
};

use crate::prompt::{
    approvals::write_state,
    format::{CardJson, CutText, Name, Quoted, Thousands},
    names::{Names, answerer},
    placed::Placed,
    reading::SpaceContext,
    why::write_why,
};

/// How the messages of a space are written for one agent.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub(crate) names: &'a Names,
    pub(crate) space: SpaceId,
    /// The agent that reads the lines: its own messages have the name You.
    pub(crate) me: EntityId,
    /// The last message that it has read.
    pub(crate) cursor: u64,
    /// The message that triggered it, or 0.
    pub(crate) trigger: u64,
    /// The other messages that its run answers, too.
    pub(crate) joined: &'a [u64],
    /// The longest text of a message, in characters.
    pub(crate) max_chars: usize,
    /// The agent has the tool that searches messages.
    pub(crate) searches: bool,
}

impl<'a> Lines<'a> {
    /// The lines of a space for its member.
    pub(crate) fn of(names: &'a Names, space: SpaceId, member: &MemberRecord) -> Self {
        let MemberRecord { entity_id: me, cursor, .. } = *member;
        Self { cursor, ..Self::unmarked(names, space, me) }
    }

    /// Lines without marks.
    pub(crate) fn unmarked(names: &'a Names, space: SpaceId, me: EntityId) -> Self {
        Self {
            names,
            space,
            me,
            cursor: u64::MAX,
            trigger: 0,
            joined: &[],
            max_chars: TIMELINE_CHARS,
            searches: false,
        }
    }

    /// Whether a line has no mark: the message is the agent's own, or an earlier run has read it.
    /// A message that the run answers is marked even if an earlier run has read it as news.
    pub(crate) fn is_seen(&self, message: &MessageRecord) -> bool {
        let MessageRecord { seq, sender, .. } = message;
        let is_answered_now = *seq == self.trigger || self.joined.contains(seq);
        !is_answered_now && (sender.id == self.me || *seq <= self.cursor)
    }

    /// Writes how many messages precede the window, and how many of them are new. Messages that are
    /// counted here count as read in later prompts.
    pub(crate) fn earlier(&self, first: u64) -> String {
        if first <= 1 {
            return String::new();
        }
        let new = (first - 1).saturating_sub(self.cursor);
        format!("{}\n", self.earlier_messages(first - 1, new, first))
    }

    /// Writes how many messages precede the one with the number `first`, how many of them are new,
    /// and how to read them.
    pub(crate) fn earlier_messages(&self, count: u64, new: u64, first: u64) -> String {
        let new =
            if new > 0 { format!(", {} of them [NEW]", Thousands(new)) } else { String::new() };
        let count = Thousands(count);
        let searches = if self.searches { ", search_messages finds words in them" } else { "" };
        format!(
            "… {count} earlier messages{new}; read_messages({{\"before\":{first}}}) shows \
             them{searches}"
        )
    }

    /// Writes the lines of a message. A message of the agent itself also shows why it was sent.
    pub(crate) fn entry(&self, message: &MessageRecord) -> Placed {
        if let Some(tombstone) = tombstone(message) {
            return Placed::plain(tombstone);
        }
        let mut entry = Placed::plain(self.text_line(message));
        if let Some(origin) = message.origin.as_ref().filter(|_| message.sender.id == self.me) {
            entry.push_str("[");
            entry.append(&write_why(self.names, self.space, origin));
            entry.push_str("]\n");
        }
        entry.push_str(&chain_line(message));
        entry.push_str(&file_lines(&message.files));
        entry.within(self.place_of(message))
    }

    /// Where a message is.
    pub(crate) fn place_of(&self, message: &MessageRecord) -> MessageRef {
        MessageRef { space_id: self.space, seq: message.seq }
    }

    /// Writes the line of a message without the reason, which may name another space.
    pub(crate) fn line(&self, message: &MessageRecord) -> String {
        if let Some(tombstone) = tombstone(message) {
            return tombstone;
        }
        self.text_line(message) + &chain_line(message) + &file_lines(&message.files)
    }

    /// Writes the line of a message that stands apart from the history, with its day and with a
    /// text of at most so many characters.
    pub(crate) fn line_apart(&self, message: &MessageRecord, max_chars: usize) -> Placed {
        if let Some(tombstone) = tombstone(message) {
            return Placed::plain(tombstone);
        }
        let line = format!(
            "#{} {} {} {}: {}\n",
            message.seq,
            message.created_at.to_date(),
            message.created_at.to_minutes(),
            self.names.of(&message.sender),
            short_content(self.names, message, max_chars)
        );
        Placed::of(self.place_of(message), line)
    }

    fn text_line(&self, message: &MessageRecord) -> String {
        let new = if self.is_seen(message) { "" } else { "[NEW] " };
        let trigger = if message.seq == self.trigger { "  ← TRIGGER" } else { "" };
        format!(
            "{new}#{} {} {}{}: {}{trigger}\n",
            message.seq,
            message.created_at.to_minutes(),
            self.names.of(&message.sender),
            reply_mark(message),
            short_content(self.names, message, self.max_chars)
        )
    }
}

/// Writes which message another one answers: ` ↩#9`.
pub(crate) fn reply_mark(message: &MessageRecord) -> String {
    message.reply_to.map_or_else(String::new, |parent| format!(" ↩#{}", parent.seq))
}

/// Writes the title of the history.
pub(crate) fn heading(trigger_space: &SpaceContext) -> String {
    format!("SPACE HISTORY {}:\n", Quoted(&trigger_space.space.settings.name))
}

/// Writes the day of a message, unless the message before it is of the same day.
pub(crate) fn day(before: Option<Time>, at: Time) -> String {
    let day = at.to_date();
    if before.is_some_and(|before| before.to_date() == day) {
        return String::new();
    }
    format!("{day} UTC\n")
}

/// Writes which other messages the run answers.
pub(crate) fn joined(trigger_space: Option<&SpaceContext>) -> String {
    let Some(trigger_space) = trigger_space.filter(|it| !it.joined.is_empty()) else {
        return String::new();
    };
    let numbers: Vec<_> = trigger_space.joined.iter().map(|seq| format!("#{seq}")).collect();
    format!("Answer these messages, too: {}\n", numbers.join(", "))
}

/// Writes the line of a deleted message. It is the same in every prompt, whoever reads it.
pub(crate) fn tombstone(message: &MessageRecord) -> Option<String> {
    message.deleted.is_some().then(|| format!("{}\n", deleted_mark(message.seq)))
}

/// Writes the line below a message with which a chain of agents' messages ends.
fn chain_line(message: &MessageRecord) -> String {
    let Some(ChainEnded { by, limit }) = message.chain_ended else { return String::new() };
    match by {
        ChainLimit::Rate => "[wakes nobody: too many runs this minute]\n".to_owned(),
        _ => format!("[wakes nobody: {limit} in a row]\n"),
    }
}

/// Writes a line for each file of a message.
pub(crate) fn file_lines<'a>(files: impl IntoIterator<Item = &'a MessageFile>) -> String {
    let mut lines = String::new();
    for (index, file) in files.into_iter().enumerate() {
        lines.push_str(&file_line(index + 1, &file.part));
        lines.push('\n');
    }
    lines
}

/// Writes the line of a file: `[file #2 "plan.pdf" (application/pdf, 120 KB) att_…]`, or of a
/// deleted one: `[file #2 "plan.pdf" (file deleted)]`. `number` counts the files of its message.
pub(crate) fn file_line(number: usize, file: &FilePart) -> String {
    let FilePart { attachment_id, name, content_type, bytes, deleted, .. } = file;
    if *deleted {
        return format!("[file #{number} {} (file deleted)]", Quoted(name));
    }
    let size = written_size(*bytes);
    format!("[file #{number} {} ({content_type}, {size}) {attachment_id}]", Quoted(name))
}

/// Writes the text of a message, or the call and the outcome of a card.
pub(crate) fn content(names: &Names, message: &MessageRecord) -> String {
    short_content(names, message, TIMELINE_CHARS)
}

/// Writes the same with a text of at most so many characters.
pub(super) fn short_content(names: &Names, message: &MessageRecord, max_chars: usize) -> String {
    let Some(card) = &message.card else {
        let text = CutText { text: &message.text, more: message.more_chars, max_chars };
        // The run was canceled while its model wrote the text.
        let stopped = if message.partial { " (stopped)" } else { "" };
        let edited = if message.edited_at.is_some() { " (edited)" } else { "" };
        return format!("{text}{stopped}{edited}");
    };
    match outcome(names, message) {
        Some(outcome) => format!("{} {outcome}", call(card)),
        None => format!("{} ({})", call(card), card.status.as_str()),
    }
}

/// Writes the call that a card shows.
pub(crate) fn call(card: &ToolCard) -> String {
    format!("[tool {}] input={}", Name(&card.name), CardJson(&card.input))
}

/// Writes the outcome of the call that a message shows, or how far its approval is. `None` if there
/// is neither.
pub(crate) fn outcome(names: &Names, message: &MessageRecord) -> Option<String> {
    let card = message.card.as_ref()?;
    if let Some(approval) = card.asks.as_ref().and_then(|asks| asks.approval.as_ref()) {
        return Some(write_state(names, card, approval));
    }
    let output = card.output.as_ref()?;
    Some(format!("output={} ({})", CardJson(output), resolution(names, card)))
}

/// Writes how a call ended: `completed`, or for a form `completed by Olga`.
fn resolution(names: &Names, card: &ToolCard) -> String {
    let status = card.status.as_str();
    let Some(asks) = card.asks.as_ref().filter(|_| card.status == CallStatus::Completed) else {
        return status.to_owned();
    };
    let declines = card.output.as_ref().is_some_and(|it| FormAnswer::is_declined(&it.text));
    let verb = if declines { "declined" } else { status };
    format!("{verb} by {}", answerer(asks).map_or_else(operator, |sender| names.of(&sender)))
}

/// How prompts call the operator.
pub(crate) fn operator() -> String {
    "the operator".to_owned()
}
