//! What moved a score.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    gate::{Member, WINDOW, features::Pair, names::Link},
    stored::tolerant,
};

/// What moved a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum Because {
    /// The message names the agent, or replies to it or answers it.
    Named,
    /// The message does none of these.
    NotNamed,
    /// The message names another member, or replies to it or answers it.
    OtherNamed,
    /// The message does none of these.
    NobodyNamed,
    /// Whether the agent wrote to the sender, and how long ago.
    AskedSender,
    /// Whether the sender wrote to the agent, and how long ago.
    SenderWrote,
    /// Whether the sender talks with another member.
    OtherTalk,
    /// The agent and the sender spoke in turn, or did not.
    Turns,
    /// How long ago the agent spoke.
    Recent,
    /// The agent has not spoken in the last 50 messages.
    Absent,
    /// How many of the last messages are the agent's.
    Share,
    /// How long ago the sender spoke, and how often.
    Sender,
    /// Rare words that the message shares with the agent's messages and description.
    Words,
    /// The form of the message: question, length, link, code, file.
    Form,
    /// What the agent does in the talk: how often it asks, answers and names others.
    Role,
    /// How many speak at once.
    Crowd,
}

tolerant!(Because);

/// The two that moved a score most, the stronger one first.
pub(super) fn strongest(moved: &[(Because, f32)], pair: &Pair<'_>) -> Vec<Because> {
    let has_spoken = pair.of_agent.said.count() > 0;
    let named = || pair.window.message().named.iter().map(|named| named.who);
    let is_named = named().any(|who| who == pair.agent);
    let names_other = named().any(|who| who != pair.agent);
    let mut moved = moved.to_vec();
    moved.sort_by(|(_, one), (_, other)| other.abs().total_cmp(&one.abs()));
    let mut strongest = Vec::with_capacity(2);
    for (because, _) in moved {
        let is_of_lines = matches!(because, Because::Recent | Because::Share | Because::Role);
        let because = match because {
            _ if is_of_lines && !has_spoken => Because::Absent,
            Because::Named if !is_named => Because::NotNamed,
            Because::OtherNamed if !names_other => Because::NobodyNamed,
            because => because,
        };
        if strongest.len() < 2 && !strongest.contains(&because) {
            strongest.push(because);
        }
    }
    strongest
}

impl Because {
    /// The words about an agent, which they call "it".
    pub(super) fn words(self, pair: &Pair<'_>, names: &[Member<'_>]) -> String {
        let name = |who: usize| names.get(who).map_or("a member", |member| member.name);
        let sender = name(pair.sender);
        let message = pair.window.message();
        let said = pair.of_agent.said;
        match self {
            Self::Named | Self::NotNamed => {
                match message.named.iter().find(|named| named.who == pair.agent) {
                    Some(named) => format!("{sender} {} it", verb(named.link)),
                    None => format!("{sender} does not name it"),
                }
            }
            Self::OtherNamed | Self::NobodyNamed => {
                let nobody = if message.named.is_empty() { "nobody" } else { "nobody else" };
                match message.named.iter().find(|named| named.who != pair.agent) {
                    Some(named) => format!("{sender} {} {}", verb(named.link), name(named.who)),
                    None => format!("{sender} names {nobody}"),
                }
            }
            Self::AskedSender => wrote_to_sender(pair, sender),
            Self::SenderWrote => match pair.to_agent().ago() {
                Some(ago) => format!("{sender} wrote to it {}", messages_ago(ago)),
                None => format!("{sender} has not written to it"),
            },
            Self::OtherTalk => match partner(pair) {
                Some(other) => format!("{sender} talks with {}", name(other)),
                None => format!("{sender} talks with nobody else"),
            },
            Self::Turns => {
                let how = if pair.speak_in_turn() { "speak" } else { "do not speak" };
                format!("it and {sender} {how} in turn")
            }
            Self::Recent | Self::Absent => match said.ago() {
                Some(ago) => format!("it spoke {}", messages_ago(ago)),
                None => format!("it has not spoken in the last {WINDOW} messages"),
            },
            Self::Share => format!("it wrote {} of the last {WINDOW} messages", said.count()),
            Self::Sender => match pair.of_sender.said.ago() {
                Some(ago) => format!("{sender} spoke {}", messages_ago(ago)),
                None => format!("{sender} has not spoken in the last {WINDOW} messages"),
            },
            Self::Words if pair.shares_words() => "it used rare words of the message".to_owned(),
            Self::Words => "it used no rare words of the message".to_owned(),
            Self::Form if message.asks => "the message asks".to_owned(),
            Self::Form => "the message asks nothing".to_owned(),
            Self::Role => role(pair),
            Self::Crowd => {
                let speakers = pair.speakers_of_10();
                format!("{speakers} spoke in the last 10 messages")
            }
        }
    }
}

fn verb(link: Link) -> &'static str {
    match link {
        Link::Text => "names",
        Link::Reply => "replies to",
        Link::Answer => "answers",
    }
}

fn messages_ago(ago: u32) -> String {
    if ago == 1 { "1 message ago".to_owned() } else { format!("{ago} messages ago") }
}

fn wrote_to_sender(pair: &Pair<'_>, sender: &str) -> String {
    let wrote = pair.to_sender();
    match (wrote.ago(), wrote.and(pair.window.asking).ago()) {
        (Some(ago), Some(asked)) if ago == asked => {
            format!("{sender} answers its question of {}", messages_ago(ago))
        }
        (Some(ago), _) => format!("it wrote to {sender} {}", messages_ago(ago)),
        (None, _) => format!("it has not written to {sender}"),
    }
}

/// With whom the sender talked last, the agent left out.
fn partner(pair: &Pair<'_>) -> Option<usize> {
    let to_sender = pair.of_sender.to.without(pair.of_agent.said);
    let by_sender = pair.of_sender.said.and(pair.window.naming).without(pair.of_agent.to);
    let line = pair.window.line(to_sender.or(by_sender).ago()?);
    if line.speaker == pair.sender {
        line.named.first().map(|named| named.who)
    } else {
        Some(line.speaker)
    }
}

fn role(pair: &Pair<'_>) -> String {
    let said = pair.of_agent.said;
    let asked = said.and(pair.window.asking).count();
    let named = said.and(pair.window.naming).count();
    format!("it asked in {asked} and named others in {named} of its messages")
}
