//! The wake gate: how likely it is that an agent would answer a message.
//!
//! It reads the message and the 50 before it, and nothing else: no model, no language, no word
//! has a weight. `docs/wake.md` says how good it is and where its weights come from.
//!
//! [`scores`] is a pure function. Equal messages give equal scores on every machine.

mod because;
mod dial;
mod features;
mod names;
mod record;
mod report;
#[cfg(test)]
mod tests;
mod trees;
mod window;
mod words;

pub use self::{
    because::Because,
    dial::{Dial, GateMode, GateSettings, Thresholds, Would},
    record::{Gate, GateScore},
    report::{DialOutcome, GateReport, GateTally, Outcome, Reported},
};
use self::{
    features::{Content, Pair},
    trees::MODEL,
    window::Window,
};
use crate::{Time, ids::EntityId, texts::excerpt};

/// The version of the weights.
pub const VERSION: u32 = 1;

/// How many messages before the message count.
pub const WINDOW: usize = 50;

/// A message as the gate reads it. Deleted and expired messages are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The position in the space.
    pub seq: u64,
    /// When it was posted.
    pub at: Time,
    /// The sender.
    pub sender: EntityId,
    /// The current text. The first 200 words count.
    pub text: &'a str,
    /// Members that it mentions for certain, with `@`. Names without `@` are found in the text.
    pub named: Vec<EntityId>,
    /// The sender of the message to which it is a reply.
    pub reply_to: Option<EntityId>,
    /// The sender of the message that triggered the run that posted it.
    pub answers: Option<EntityId>,
    /// Whether it has a file.
    pub has_file: bool,
}

impl<'a> Line<'a> {
    /// A message with a text and nothing else.
    pub fn new(seq: u64, at: Time, sender: EntityId, text: &'a str) -> Self {
        Self {
            seq,
            at,
            sender,
            text,
            named: Vec::new(),
            reply_to: None,
            answers: None,
            has_file: false,
        }
    }
}

/// A member of the space as the gate sees it, the sender included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The member.
    pub id: EntityId,
    /// The name.
    pub name: &'a str,
    /// What an agent says that it does.
    pub description: Option<&'a str>,
}

/// A message, those before it, and the members of the space.
#[derive(Clone, Copy, Debug)]
pub struct Talk<'a> {
    /// The messages before it, oldest first. Only the last 50 count.
    pub before: &'a [Line<'a>],
    /// The message.
    pub message: &'a Line<'a>,
    /// The members of the space, in the order in which they joined.
    pub members: &'a [Member<'a>],
}

/// How likely it is that an agent would answer a message, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The agent.
    pub agent_id: EntityId,
    /// The probability, with four decimals.
    pub score: f64,
    /// What moved the score most, at most two.
    pub because: Vec<Because>,
    /// `because` in words about this talk: `Sara answers its question of 2 messages ago`.
    pub words: String,
}

impl Score {
    /// The `reasonText` of the decision for the agent.
    pub fn reason_text(&self) -> String {
        let text = format!("gate {:.2}: {}", self.score, self.words);
        excerpt(&text, 300).0.to_owned()
    }
}

/// The score of each of `agents` for the message of `talk`, in the order of `agents`.
pub fn scores(talk: &Talk<'_>, agents: &[EntityId]) -> Vec<Score> {
    let window = Window::new(talk, agents);
    let content = Content::new(&window);
    let score = |agent_id: &EntityId| {
        let pair = pair(talk, &window, &content, *agent_id);
        let scored = MODEL.score(&pair.row());
        let because = because::strongest(&scored.moved, &pair);
        let words = because.iter().map(|code| code.words(&pair, talk.members));
        let words = words.collect::<Vec<_>>().join(", ");
        Score { agent_id: *agent_id, score: scored.score, because, words }
    };
    agents.iter().map(score).collect()
}

/// The features of each of `agents`, in the order of [`feature_names`]: what the weights are made
/// from.
pub fn features(talk: &Talk<'_>, agents: &[EntityId]) -> Vec<Vec<f32>> {
    let window = Window::new(talk, agents);
    let content = Content::new(&window);
    agents.iter().map(|agent| pair(talk, &window, &content, *agent).row().values).collect()
}

/// The names of the features.
pub fn feature_names() -> Vec<&'static str> {
    let agent = EntityId::new(Time::default(), 0);
    let message = Line::new(1, Time::default(), agent, "");
    let talk = Talk { before: &[], message: &message, members: &[] };
    let window = Window::new(&talk, &[agent]);
    let row = pair(&talk, &window, &Content::new(&window), agent).row();
    row.columns.iter().map(|(_, name)| *name).collect()
}

fn pair<'a>(
    talk: &Talk<'_>,
    window: &'a Window,
    content: &'a Content,
    agent: EntityId,
) -> Pair<'a> {
    let place = window.place(agent).unwrap_or_default();
    let description = talk.members.get(place).and_then(|member| member.description);
    let words = description.map(words::of_description);
    Pair::new(window, content, place, words.unwrap_or_default())
}

/// The agent with the best score. Of equal scores the first one counts.
pub fn best(scores: &[Score]) -> Option<&Score> {
    scores.iter().reduce(|best, score| if score.score > best.score { score } else { best })
}
