//! Rare words that the message shares with other lines, and the rest that all agents share.

use std::collections::HashMap;

use super::{Pair, Row};
use crate::gate::{
    Because, WINDOW,
    window::{Parsed, Set, Window},
};

/// What is computed once for a message.
pub(in crate::gate) struct Content {
    /// How many lines have a word of the message, itself included.
    lines_with: HashMap<u64, u16>,
    /// The rare words that each line shares with the message, from the newest.
    shared: Vec<f32>,
    /// The most that a line of each member shares.
    best: Vec<f32>,
    /// How many words of the message no line before has.
    new_words: usize,
    pub(super) crowd: Crowd,
}

/// How busy the space is.
pub(super) struct Crowd {
    pub(super) of_10: f32,
    pub(super) of_50: f32,
    pub(super) in_minute: f32,
    pub(super) in_5_minutes: f32,
    pub(super) of_all: f32,
    pub(super) naming: f32,
}

impl Content {
    pub(in crate::gate) fn new(window: &Window) -> Self {
        let mut lines_with: HashMap<u64, u16> =
            window.message().words.iter().map(|word| (*word, 0)).collect();
        for line in &window.lines {
            for word in &line.words {
                if let Some(count) = lines_with.get_mut(word) {
                    *count += 1;
                }
            }
        }
        let mut best = vec![0.0_f32; window.sets.len()];
        let lines = window.lines.iter().rev().skip(1);
        let shared = lines.map(|line| {
            let shared = rare(&lines_with, &line.words, 0);
            best[line.speaker] = best[line.speaker].max(shared);
            shared
        });
        let shared = shared.collect();
        let new_words = lines_with.values().filter(|count| **count == 1).count();
        Self { lines_with, shared, best, new_words, crowd: Crowd::new(window) }
    }
}

fn minutes(now: i64, line: &Parsed) -> f32 {
    (now - line.minute).clamp(0, 10_080) as f32
}

/// The sum over the words that the message has, too. A word of two lines counts 1, of four a half.
/// `more` is 1 if the words are not of a line of the window.
fn rare(lines_with: &HashMap<u64, u16>, words: &[u64], more: u16) -> f32 {
    let counts = words.iter().filter_map(|word| lines_with.get(word));
    counts.map(|count| 2.0 / f32::from(count + more)).sum()
}

impl Crowd {
    fn new(window: &Window) -> Self {
        let now = window.message().minute;
        let before = &window.lines[..window.lines.len() - 1];
        let since =
            |minutes: i64| before.iter().filter(|line| now - line.minute <= minutes).count() as f32;
        let speakers = |most: u32| {
            window.sets.iter().filter(|sets| sets.said.last(most).count() > 0).count() as f32
        };
        Self {
            of_10: speakers(10),
            of_50: speakers(50),
            in_minute: since(1),
            in_5_minutes: since(5),
            of_all: before.first().map_or(10_080.0, |line| minutes(now, line)),
            naming: window.naming.count() as f32,
        }
    }
}

/// The most that the agent's lines or its description share.
pub(super) fn best(pair: &Pair<'_>) -> f32 {
    pair.content.best[pair.agent].max(described(pair))
}

fn described(pair: &Pair<'_>) -> f32 {
    rare(&pair.content.lines_with, &pair.description, 1)
}

pub(super) fn add(pair: &Pair<'_>, row: &mut Row) {
    let content = pair.content;
    let shared = |set: Set| set.iter().map(|ago| content.shared[ago as usize - 1]);
    let (agent, sender) = (pair.of_agent.said, pair.of_sender.said);
    let (best, described) = (best(pair), described(pair));
    row.add(Because::Words, "shares", best);
    let sum: f32 = shared(agent).sum();
    row.add(Because::Words, "shares in all", sum + described);
    row.add(Because::Words, "shares with last", shared(agent).next().unwrap_or(described));
    let ago = agent.iter().find(|ago| content.shared[*ago as usize - 1] >= best);
    row.add(Because::Words, "shares ago", ago.unwrap_or(WINDOW as u32 + 1) as f32);
    let to_sender = shared(pair.to_sender()).fold(0.0, f32::max);
    row.add(Because::Words, "shares to sender", to_sender);
    let others = || {
        let others = pair.window.active.iter();
        others.filter(|who| **who != pair.agent && **who != pair.sender)
    };
    let other = others().map(|who| content.best[*who]).fold(0.0, f32::max);
    row.add(Because::Words, "shares more than others", best - other);
    row.add(Because::Words, "shares with own", shared(sender).fold(0.0, f32::max));
    row.add(Because::Words, "shares with own last", shared(sender).next().unwrap_or(-1.0));
    row.add(Because::Form, "new words", content.new_words as f32);
    let shares = others().filter(|who| content.best[**who] > best).count();
    row.add(Because::Words, "shares rank", shares as f32);
}
