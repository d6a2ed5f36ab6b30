//! A talk of 200 messages with its scores: a change of a feature, of the weights or of the order
//! of a sum shows here, and so does a machine that computes something else.

use std::fmt::Write;

use super::{Line, Member, Talk, WINDOW, scores};
use crate::{Time, ids::EntityId};

/// A line each: the minutes since the one before, the sender, `file`, `answers NAME` or `reply
/// NAME`, and the text.
const TALK: &str = include_str!("talk.txt");

/// The members, and the descriptions of the agents.
const MEMBERS: [(&str, Option<&str>); 7] = [
    ("Sara", None),
    ("Omar", None),
    ("Lena", None),
    ("Ana", Some("Plans releases, follows the pull requests and writes the release notes.")),
    ("DeployBot", Some("Deploys a version to staging or production and runs the smoke tests.")),
    ("Librarian", Some("Finds documents and answers questions about the handbook.")),
    ("Tariff", Some("Reads the bills and says what something costs.")),
];

fn id(name: &str) -> EntityId {
    let place = MEMBERS.iter().position(|(known, _)| *known == name).unwrap();
    EntityId::new(Time::from_millis(1), place as u128)
}

fn talk() -> Vec<Line<'static>> {
    let mut minute = 29_000_000;
    let mut lines = Vec::new();
    for (at, line) in TALK.lines().enumerate() {
        let [pause, sender, extra, text] =
            line.splitn(4, '|').collect::<Vec<_>>().try_into().unwrap();
        minute += pause.parse::<i64>().unwrap();
        let time = Time::from_millis(minute * 60_000);
        let mut line = Line::new(at as u64 + 1, time, id(sender), text);
        match extra.split_once(' ') {
            Some(("answers", name)) => line.answers = Some(id(name)),
            Some(("reply", name)) => line.reply_to = Some(id(name)),
            _ => line.has_file = extra == "file",
        }
        line.named = MEMBERS
            .iter()
            .filter(|(name, _)| text.contains(&format!("@{name}")))
            .map(|(name, _)| id(name))
            .collect();
        lines.push(line);
    }
    lines
}

#[test]
fn a_talk_has_the_same_scores_on_every_machine() {
    let lines = talk();
    assert_eq!(lines.len(), 200);
    let members = MEMBERS.map(|(name, description)| Member { id: id(name), name, description });
    let mut table = String::new();
    for (at, message) in lines.iter().enumerate() {
        let before = &lines[at.saturating_sub(WINDOW)..at];
        let agents: Vec<EntityId> = MEMBERS[3..]
            .iter()
            .map(|(name, _)| id(name))
            .filter(|id| *id != message.sender)
            .collect();
        let scores = scores(&Talk { before, message, members: &members }, &agents);
        writeln!(table, "{} {}", message.seq, message.text).unwrap();
        for score in scores {
            let place = members.iter().position(|member| member.id == score.agent_id).unwrap();
            let name = members[place].name;
            writeln!(table, "    {:.4} {name}: {}", score.score, score.words).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}
