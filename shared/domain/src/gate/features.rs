//! The features of a message and an agent: numbers from which the trees compute a score.
//!
//! Each family of features is a file. The weights know the features by their order.

mod content;
mod message;
mod recency;
mod role;
mod talk;

pub(super) use self::content::Content;
use crate::gate::{
    Because, WINDOW,
    window::{Parsed, Set, Sets, Window},
};

/// The features of one agent.
#[derive(Default)]
pub(super) struct Row {
    /// The values.
    pub(super) values: Vec<f32>,
    /// What each value tells, and its name.
    pub(super) columns: Vec<(Because, &'static str)>,
}

impl Row {
    fn add(&mut self, because: Because, name: &'static str, value: f32) {
        self.values.push(value);
        self.columns.push((because, name));
    }

    /// How many lines a set has.
    fn count(&mut self, because: Because, name: &'static str, set: Set) {
        self.add(because, name, set.count() as f32);
    }

    /// How long ago the newest line of a set is; one more than the window if there is none.
    fn ago(&mut self, because: Because, name: &'static str, set: Set) {
        self.add(because, name, ago(set) as f32);
    }

    fn is(&mut self, because: Because, name: &'static str, holds: bool) {
        self.add(because, name, f32::from(u8::from(holds)));
    }
}

fn ago(set: Set) -> u32 {
    set.ago().unwrap_or(WINDOW as u32 + 1)
}

/// An agent and the sender of the message.
pub(super) struct Pair<'a> {
    pub(super) window: &'a Window,
    pub(super) content: &'a content::Content,
    /// The words of the agent's description.
    pub(super) description: Vec<u64>,
    /// The positions of the agent and the sender among the members.
    pub(super) agent: usize,
    pub(super) sender: usize,
    /// What is known of the agent and of the sender.
    pub(super) of_agent: Sets,
    pub(super) of_sender: Sets,
}
impl<'a> Pair<'a> {
    pub(super) fn new(
        window: &'a Window,
        content: &'a Content,
        agent: usize,
        description: Vec<u64>,
    ) -> Self {
        let sender = window.message().speaker;
        Self {
            window,
            content,
            description,
            agent,
            sender,
            of_agent: window.sets[agent],
            of_sender: window.sets[sender],
        }
    }

    pub(super) fn row(&self) -> Row {
        let mut row = Row::default();
        message::add(self, &mut row);
        talk::add(self, &mut row);
        recency::add(self, &mut row);
        content::add(self, &mut row);
        role::add(self, &mut row);
        row
    }

    /// The agent's lines that name the sender.
    pub(super) fn to_sender(&self) -> Set {
        self.of_agent.said.and(self.of_sender.to)
    }

    /// The sender's lines that name the agent.
    pub(super) fn to_agent(&self) -> Set {
        self.of_sender.said.and(self.of_agent.to)
    }

    /// Whether the agent's newest line stands directly after one of the sender, or the other way
    /// round.
    pub(super) fn speak_in_turn(&self) -> bool {
        let (agent, sender) = (self.of_agent.said, self.of_sender.said);
        agent.and(sender.after()).or(sender.and(agent.after())).count() > 0
            || agent.ago() == Some(1)
    }

    /// Whether the agent used rare words of the message.
    pub(super) fn shares_words(&self) -> bool {
        content::best(self) >= 0.5
    }

    /// How many spoke in the last 10 messages.
    pub(super) fn speakers_of_10(&self) -> f32 {
        self.content.crowd.of_10
    }

    /// The newest line of a set.
    fn newest(&self, set: Set) -> Option<&'a Parsed> {
        set.ago().map(|ago| self.window.line(ago))
    }

    /// The minutes since the newest line of a set; a week if there is none.
    fn minutes(&self, set: Set) -> f32 {
        let now = self.window.message().minute;
        self.newest(set).map_or(10_080.0, |line| (now - line.minute).clamp(0, 10_080) as f32)
    }
}
