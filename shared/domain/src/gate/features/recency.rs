//! How long ago the agent and the sender spoke, and how often.

use super::{Pair, Row};
use crate::gate::{Because, window::Set};

pub(super) fn add(pair: &Pair<'_>, row: &mut Row) {
    let (agent, sender) = (pair.of_agent.said, pair.of_sender.said);
    row.ago(Because::Recent, "ago", agent);
    row.add(Because::Recent, "minutes", pair.minutes(agent));
    row.add(Because::Recent, "rank", rank(pair, agent) as f32);
    row.count(Because::Share, "of 5", agent.last(5));
    row.count(Because::Share, "of 10", agent.last(10));
    row.count(Because::Share, "of 20", agent.last(20));
    row.count(Because::Share, "of 50", agent);
    row.ago(Because::Sender, "sender ago", sender);
    row.count(Because::Sender, "sender of 50", sender);
    row.ago(Because::Sender, "sender asked ago", sender.and(pair.window.asking));
    row.is(Because::Sender, "sender spoke last", sender.ago() == Some(1));
    crowd(pair, row);
}

/// How many other members spoke after the agent did, the sender not counted.
fn rank(pair: &Pair<'_>, agent: Set) -> usize {
    let spoke = |who: usize| pair.window.sets[who].said.newer_than(agent).count() > 0;
    pair.window.active.iter().filter(|who| **who != pair.sender && spoke(**who)).count()
}

fn crowd(pair: &Pair<'_>, row: &mut Row) {
    let shared = &pair.content.crowd;
    row.add(Because::Crowd, "speakers of 10", shared.of_10);
    row.add(Because::Crowd, "speakers", shared.of_50);
    row.add(Because::Crowd, "lines in 1 minute", shared.in_minute);
    row.add(Because::Crowd, "lines in 5 minutes", shared.in_5_minutes);
    row.add(Because::Crowd, "minutes of all", shared.of_all);
    row.add(Because::Crowd, "naming", shared.naming);
}
