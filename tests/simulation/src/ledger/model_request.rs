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
    /// The agent.
    pub agent: EntityId,
    /// The message that triggered the run, or the run itself if a plan or a service triggered it.
    pub trigger: String,
    /// Whether another agent delegated the trigger: an agent may then have two runs for one
    /// message.
    pub delegated: bool,
    /// The space of the history.
    pub space: String,
    /// The number of earlier answers in this run.
    pub step: usize,
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
    /// Its id.
    pub message: String,
    /// Whether it is marked as seen.
    pub seen: bool,
    /// Whether the agent wrote it.
    pub own: bool,
}

impl Line {
    /// The messages that the timeline lines of a text show.
    pub(crate) fn all_in(text: &str) -> Vec<Self> {
        let line = |line: &str| {
            let seen = line.starts_with("  [SEEN] [msg:");
            let new = line.starts_with("  [NEW]  [msg:");
            let message = line.get(14..)?.split(']').next()?.to_owned();
            (seen || new).then(|| Self { message, seen, own: line.contains(" (agent, you): ") })
        };
        text.lines().filter_map(line).collect()
    }
}
