//! A request to a model, as its prompt shows it.

use smartspace_domain::ids::EntityId;
use tokio::time::Instant;

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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Its text, or its card.
    pub content: String,
}

impl Line {
    /// The messages that the news shows.
    pub(crate) fn all_in_news(text: &str) -> Vec<Self> {
        Self::all_in(text, &space_of_news(text))
    }

    /// The messages of a space that the timeline lines of a text show.
    pub(crate) fn all_in(text: &str, space: &str) -> Vec<Self> {
        text.lines().filter_map(|line| Self::of(line, space)).collect()
    }

    /// Its number in its space.
    pub(crate) fn number(&self) -> Option<u64> {
        self.message.split_once('#')?.1.parse().ok()
    }

    fn of(line: &str, space: &str) -> Option<Self> {
        let unmarked = line.strip_prefix("[NEW] ");
        let (number, rest) = unmarked.unwrap_or(line).strip_prefix('#')?.split_once(' ')?;
        number.parse::<u64>().ok()?;
        let (time, rest) = rest.split_at_checked(5)?;
        let (sender, content) = split_name(rest.strip_prefix(' ')?)?;
        Some(Self {
            message: format!("{space}#{number}"),
            seen: unmarked.is_none(),
            own: sender == "You",
            time: time.to_owned(),
            sender: sender.to_owned(),
            content: content.strip_suffix(TRIGGER_MARK).unwrap_or(content).to_owned(),
        })
    }
}

/// The mark at the end of the line of the message that triggered a run.
const TRIGGER_MARK: &str = "  ← TRIGGER";

/// Splits the name of a sender, which may be quoted, from what it wrote.
fn split_name(line: &str) -> Option<(&str, &str)> {
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

/// The space of the news.
fn space_of_news(text: &str) -> String {
    let title = text.lines().find(|line| line.starts_with("Posted in "));
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
