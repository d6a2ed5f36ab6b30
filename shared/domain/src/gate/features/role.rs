//! What the agent and the sender do in the talk.

use super::{Pair, Row};
use crate::gate::{Because, window::Set};

pub(super) fn add(pair: &Pair<'_>, row: &mut Row) {
    let (agent, sender) = (pair.of_agent, pair.of_sender);
    let (asking, naming) = (pair.window.asking, pair.window.naming);
    row.add(Because::Role, "asks share", share(agent.said.and(asking), agent.said));
    row.add(Because::Role, "names share", share(agent.said.and(naming), agent.said));
    let obeyed = agent.said.and(pair.window.commands.after());
    row.add(Because::Role, "answers commands", share(obeyed, agent.said));
    row.add(Because::Role, "links share", share(agent.said.and(pair.window.links), agent.said));
    row.count(Because::Role, "names", agent.said.and(naming));
    row.count(Because::Role, "answered first", agent.first);
    row.ago(Because::Role, "answered first ago", agent.first);
    row.add(Because::Role, "mean length", length(pair, agent.said));
    row.add(Because::Role, "wrote to", partners(pair, |_, to| agent.said.and(to)));
    row.add(Because::Role, "written to by", partners(pair, |said, _| agent.to.and(said)));
    row.count(Because::Role, "is named", agent.to);
    row.ago(Because::Role, "named ago", agent.to);
    let open = agent.said.and(asking).without(naming);
    row.ago(Because::Role, "asked openly ago", open);
    row.count(Because::Role, "answered since", agent.to.newer_than(open));
    let others = asking.without(naming).without(agent.said).without(sender.said);
    row.count(Because::Role, "others asked openly since", others.newer_than(open));
    row.count(Because::Role, "not named since", agent.to.newer_than(agent.said));
    row.add(Because::Role, "spoke since last named", since(agent.said, agent.to));
    let open = sender.said.and(asking).without(naming);
    row.ago(Because::Sender, "sender asked openly ago", open);
    let last = pair.newest(sender.said);
    row.add(Because::Sender, "sender's last length", last.map_or(-1.0, |line| line.length as f32));
    let last = pair.newest(agent.said);
    row.add(Because::Role, "last length", last.map_or(-1.0, |line| line.length as f32));
    row.add(Because::Sender, "sender's length", length(pair, sender.said));
}

/// How many lines of a set are newer than the newest of another; -1 if the other is empty.
fn since(of: Set, other: Set) -> f32 {
    if other.count() == 0 { -1.0 } else { of.newer_than(other).count() as f32 }
}

fn share(of: Set, all: Set) -> f32 {
    if all.count() == 0 { -1.0 } else { of.count() as f32 / all.count() as f32 }
}

/// The mean number of words of the lines of a set.
fn length(pair: &Pair<'_>, set: Set) -> f32 {
    let words: usize = set.iter().map(|ago| pair.window.line(ago).length).sum();
    if set.count() == 0 { -1.0 } else { words as f32 / set.count() as f32 }
}

/// With how many members the agent has lines, of which `lines` gives the set by what a member said
/// and what was written to it.
fn partners(pair: &Pair<'_>, lines: impl Fn(Set, Set) -> Set) -> f32 {
    let has = |who: &&usize| {
        let sets = pair.window.sets[**who];
        **who != pair.agent && lines(sets.said, sets.to).count() > 0
    };
    pair.window.active.iter().filter(has).count() as f32
}
