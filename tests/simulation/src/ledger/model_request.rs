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
    /// The messages of the history and of the news, with their marks.
    pub lines: Vec<Line>,
    /// Its earlier answers, their results, and the system messages in between, as JSON.
    pub before: Vec<String>,
}

impl ModelRequest {
    /// Identifies the run: its agent, its trigger, and whether that was delegated.
    pub fn run(&self) -> (EntityId, &str, bool) {
        (self.agent, &self.trigger, self.delegated)
    }
}

/// A message in the history that a model was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its space and its number: `spc_…#17`.
    pub message: String,
    /// Whether it is marked as seen.
    pub seen: bool,
    /// Whether the agent wrote it.
    pub own: bool,
}

impl Line {
    /// The messages that the timeline lines of a text show.
    pub(crate) fn all_in(text: &str) -> Vec<Self> {
        Self::all_of(text, &space_in(text))
    }

    /// The messages of a space that the timeline lines of a text show.
    pub(crate) fn all_of(text: &str, space: &str) -> Vec<Self> {
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
        // A time in minutes precedes the sender.
        let own = rest.get(5..).is_some_and(|rest| rest.starts_with(" You: "));
        Some(Self { message: format!("{space}#{number}"), seen: unmarked.is_none(), own })
    }
}

/// The space of the lines in a text: that of the news, or the active one.
pub(crate) fn space_in(text: &str) -> String {
    let titles = ["Said in ", "ACTIVE SPACE: "];
    text.lines()
        .filter(|line| titles.iter().any(|title| line.starts_with(title)))
        .filter_map(|line| Some(line.split_once("(spc_")?.1.split_once(')')?.0))
        .map(|id| format!("spc_{id}"))
        .next()
        .unwrap_or_default()
}
