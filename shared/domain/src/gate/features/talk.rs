//! Who wrote to whom: by names, and by guesses where a line has none.

use super::{Pair, Row, ago};
use crate::gate::{Because, window::Parsed};

pub(super) fn add(pair: &Pair<'_>, row: &mut Row) {
    from_agent(pair, row);
    from_sender(pair, row);
    others(pair, row);
    partner(pair, row);
    guesses(pair, row);
    turns(pair, row);
}

fn from_agent(pair: &Pair<'_>, row: &mut Row) {
    let wrote = pair.to_sender();
    row.ago(Because::AskedSender, "wrote to sender ago", wrote);
    row.count(Because::AskedSender, "wrote to sender", wrote);
    row.ago(Because::AskedSender, "asked sender ago", wrote.and(pair.window.asking));
    let since = pair.of_sender.said.newer_than(wrote);
    let answers = if wrote.count() == 0 { -1.0 } else { since.count() as f32 };
    row.add(Because::AskedSender, "sender spoke since", answers);
}

fn from_sender(pair: &Pair<'_>, row: &mut Row) {
    let wrote = pair.to_agent();
    row.ago(Because::SenderWrote, "sender wrote ago", wrote);
    row.ago(Because::SenderWrote, "sender asked it ago", wrote.and(pair.window.asking));
    let last = pair.newest(pair.of_sender.said);
    row.add(Because::SenderWrote, "sender's last", to(last, pair.agent));
}

fn others(pair: &Pair<'_>, row: &mut Row) {
    let (agent, sender) = (pair.of_agent, pair.of_sender);
    let naming = pair.window.naming;
    let to_sender = sender.to.without(agent.said);
    let by_sender = sender.said.and(naming).without(agent.to);
    row.ago(Because::OtherTalk, "others to sender ago", to_sender);
    row.count(Because::OtherTalk, "others to sender", to_sender);
    row.ago(Because::OtherTalk, "sender to others ago", by_sender);
    row.ago(Because::Role, "to others ago", agent.said.and(naming).without(sender.to));
    row.ago(Because::Role, "others to it ago", agent.to.without(sender.said));
    row.count(Because::Role, "others to it", agent.to.without(sender.said));
    let last = pair.newest(sender.to);
    let is_it = last.map_or(-1.0, |line| f32::from(u8::from(line.speaker == pair.agent)));
    row.add(Because::OtherTalk, "last to sender is it", is_it);
}

fn partner(pair: &Pair<'_>, row: &mut Row) {
    let (agent, sender) = (pair.of_agent, pair.of_sender);
    let both = pair.to_sender().or(pair.to_agent());
    let all = sender.to.or(sender.said.and(pair.window.naming));
    row.ago(Because::Turns, "talk ago", both);
    row.count(Because::Turns, "talk", both);
    row.add(Because::Turns, "talk minutes", pair.minutes(both));
    row.is(Because::Turns, "talk is last", both.count() > 0 && both.ago() == all.ago());
    row.count(Because::OtherTalk, "other talk since", all.newer_than(both));
    row.ago(Because::OtherTalk, "other talk ago", all.without(both));
    let share = both.count() as f32 / all.count().max(1) as f32;
    row.add(Because::Turns, "talk share", share);
    let own = agent.to.or(agent.said.and(pair.window.naming));
    row.count(Because::OtherTalk, "own talk since", own.newer_than(both));
}

fn guesses(pair: &Pair<'_>, row: &mut Row) {
    let (agent, sender) = (pair.of_agent, pair.of_sender);
    let message = pair.window.message();
    let guess = message.guess.map_or(-1.0, |who| f32::from(u8::from(who == pair.agent)));
    row.add(Because::Turns, "probably to it", guess);
    let to_sender = agent.said.and(sender.guessed);
    let to_agent = sender.said.and(agent.guessed);
    row.count(Because::Turns, "probably wrote", to_sender);
    row.ago(Because::Turns, "sender probably wrote ago", to_agent);
    row.count(Because::Turns, "sender probably wrote", to_agent);
    let both = to_sender.or(to_agent).or(pair.to_sender()).or(pair.to_agent());
    let all = sender.to.or(sender.guessed).or(sender.said);
    row.ago(Because::Turns, "probable talk ago", both);
    row.count(Because::OtherTalk, "probable other talk since", all.newer_than(both));
}

fn turns(pair: &Pair<'_>, row: &mut Row) {
    let (agent, sender) = (pair.of_agent.said, pair.of_sender.said);
    let mut speakers = agent.or(sender).iter().map(|ago| agent.0 >> (ago - 1) & 1);
    let mut changes = 0;
    let mut last = speakers.next();
    for speaker in speakers.take(9) {
        changes += u8::from(last != Some(speaker));
        last = Some(speaker);
    }
    row.add(Because::Turns, "turns", f32::from(changes));
    row.count(Because::Recent, "spoke since sender", agent.newer_than(sender));
    row.count(Because::Sender, "sender spoke since it", sender.newer_than(agent));
    row.ago(Because::Recent, "after sender ago", agent.and(sender.after()));
    let gap = ago(agent) as f32 - ago(sender) as f32;
    row.add(Because::Recent, "gap", gap);
    row.ago(Because::Recent, "asked ago", agent.and(pair.window.asking));
}

/// Whether a line names `who`: 2; nobody: 1; others: 0. -1 if there is no line.
fn to(line: Option<&Parsed>, who: usize) -> f32 {
    match line {
        None => -1.0,
        Some(line) if line.named.is_empty() => 1.0,
        Some(line) if line.named.iter().any(|named| named.who == who) => 2.0,
        Some(_) => 0.0,
    }
}
