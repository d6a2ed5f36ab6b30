//! A request to a model, as its prompt shows it.

use std::collections::BTreeSet;

use smartspace_domain::ids::EntityId;
use tokio::time::Instant;

use crate::ledger::Apart;

/// A request to a model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// When it was sent.
    pub sent: Instant,
    /// When it arrived.
    pub at: Instant,
    /// The process that sent it.
    pub process: String,
    /// The name of the model.
    pub model: String,
    pub agent: EntityId,
    /// The run, which the request names.
    pub run_id: String,
    /// The message that triggered the run, or the run itself if a plan or a service triggered it or
    /// if it repeats or replays another one.
    pub trigger: String,
    /// Whether another agent delegated the trigger: an agent may then have two runs for one
    /// message.
    pub delegated: bool,
    /// The space of the history.
    pub space: String,
    /// The number of earlier answers in this run.
    pub step: usize,
    /// The trigger as `lines` call it, if it is a message.
    pub trigger_line: String,
    /// The other messages that the run answers, as `lines` call them.
    pub joined_lines: Vec<String>,
    /// The messages of the history and of the news, with their marks.
    pub lines: Vec<Line>,
    /// What it shows of messages apart from the history.
    pub apart: Apart,
    /// The markers of all texts that its prompt shows.
    pub markers: BTreeSet<String>,
    /// The line of the summary of older messages. Empty if there is none.
    pub summary: String,
    /// Its earlier answers, their results, and the system messages in between, as JSON.
    pub before: Vec<String>,
}

impl ModelRequest {
    /// Identifies the run: its agent, its trigger, and whether that was delegated.
    pub fn run(&self) -> (EntityId, &str, bool) {
        (self.agent, &self.trigger, self.delegated)
    }

    /// Whether the run answers a message. Its line is marked as new even if an earlier run has read
    /// it as news.
    pub fn answers(&self, line: &Line) -> bool {
        line.message == self.trigger_line || self.joined_lines.contains(&line.message)
    }
}

/// A message in the history that a model was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Its space and its number: `spc_…#17`.
    pub message: String,
    /// Whether it is marked as seen.
    pub seen: bool,
    /// Whether the agent wrote it.
    pub own: bool,
    /// The time in minutes, as `11:07`.
    pub time: String,
    /// The name of its sender, as the line shows it.
    pub sender: String,
    /// The number of the message that it replies to.
    pub parent: Option<u64>,
    /// Its text, or its card. `[deleted]` for a tombstone, of which a line shows nothing else.
    pub content: String,
    /// Whether it stands apart from the history, and does not say to what the message replies.
    pub is_apart: bool,
}

impl Line {
    /// The messages that the news shows.
    pub(crate) fn all_in_news(text: &str) -> Vec<Self> {
        Self::all_in(text, &space_of_news(text))
    }

    /// The messages of a space that the timeline lines of a text show.
    pub(crate) fn all_in(text: &str, space: &str) -> Vec<Self> {
        let mut is_apart = false;
        let lines = text.lines().filter(|line| {
            let begins = APART.iter().any(|title| line.starts_with(title));
            is_apart = begins || is_apart && !line.starts_with(HISTORY);
            !is_apart
        });
        lines.filter_map(|line| Self::of(line, space)).collect()
    }

    /// Its number in its space.
    pub(crate) fn number(&self) -> Option<u64> {
        self.message.split_once('#')?.1.parse().ok()
    }

    fn of(line: &str, space: &str) -> Option<Self> {
        let unmarked = line.strip_prefix("[NEW] ");
        let (number, rest) = unmarked.unwrap_or(line).strip_prefix('#')?.split_once(' ')?;
        number.parse::<u64>().ok()?;
        let rest = rest.strip_suffix(TRIGGER_MARK).unwrap_or(rest);
        let message = format!("{space}#{number}");
        let seen = unmarked.is_none();
        if rest == DELETED {
            return Some(Self { message, seen, content: DELETED.to_owned(), ..Self::default() });
        }
        let (time, rest) = rest.split_at_checked(5)?;
        let (sender, content) = Self::split_name(rest.strip_prefix(' ')?)?;
        let (sender, parent) = split_parent(sender);
        Some(Self {
            message,
            seen,
            own: sender == "You",
            time: time.to_owned(),
            sender: sender.to_owned(),
            parent,
            content: content.to_owned(),
            is_apart: false,
        })
    }

    /// Splits the name of a sender, which may be quoted, from what it wrote.
    pub(super) fn split_name(line: &str) -> Option<(&str, &str)> {
        let quoted = if line.starts_with('"') {
            let mut texts = serde_json::Deserializer::from_str(line).into_iter::<String>();
            texts.next()?.ok()?;
            texts.byte_offset()
        } else {
            0
        };
        let end = quoted + line.get(quoted..)?.find(": ")?;
        Some((line.get(..end)?, line.get(end + 2..)?))
    }

    /// Whether it shows a tombstone.
    pub(crate) fn is_deleted(&self) -> bool {
        self.content == DELETED
    }
}

/// What stands in the line of a tombstone.
pub(crate) const DELETED: &str = "[deleted]";

/// Splits the mark of a reply, as ` ↩#9`, from the name of its sender.
fn split_parent(sender: &str) -> (&str, Option<u64>) {
    let split = sender.rsplit_once(" ↩#");
    let parent = split.and_then(|(name, number)| Some((name, number.parse().ok()?)));
    parent.map_or((sender, None), |(name, number)| (name, Some(number)))
}

/// The titles of blocks that show messages which the history need not have.
const APART: [&str; 3] = ["PINNED:", "REPLIED TO:", "EDITED SINCE EARLIER WAS WRITTEN"];
/// The beginning of the title of the history.
const HISTORY: &str = "SPACE HISTORY";

/// The mark at the end of the line of the message that triggered a run.
const TRIGGER_MARK: &str = "  ← TRIGGER";

/// The space of the news.
fn space_of_news(text: &str) -> String {
    let titles = ["Posted in ", "Edited or deleted in "];
    let is_title = |line: &&str| titles.iter().any(|title| line.starts_with(title));
    let title = text.lines().find(is_title);
    title.and_then(id_in).unwrap_or_default()
}

/// The active space of a prompt. `rules` is its system message, which lists the spaces.
pub(crate) fn active_space(text: &str, rules: &str) -> String {
    let active = text.lines().find_map(|line| line.strip_prefix("ACTIVE SPACE: "));
    let Some(active) = active else { return String::new() };
    id_in(active).unwrap_or_else(|| {
        let listed = |line: &str| {
            let (name, _) = line.strip_prefix("- ")?.split_once(" (spc_")?;
            let rest = active.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with(" — ")).then(|| id_in(line))?
        };
        rules.lines().find_map(listed).unwrap_or_default()
    })
}

fn id_in(line: &str) -> Option<String> {
    let (id, _) = line.split_once("(spc_")?.1.split_once(')')?;
    Some(format!("spc_{id}"))
}
