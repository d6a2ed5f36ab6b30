//! Plays of agents that always answer, with random model times: how many messages one message of a
//! person causes.

use std::collections::BTreeMap;

use super::*;
use crate::{
    concurrency::{Lane, LaneEntry},
    ids::SpaceId,
    jobs::{MessageRef, RunRef},
};

const NAMES: [&str; 10] = ["Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gil", "Hal", "Ida", "Jon"];
const PERSON: u128 = 99;

/// A space with a person and agents that answer each message with one of their own.
struct Play {
    space: SpaceSettings,
    agents: usize,
    lanes: Vec<Lane>,
    /// The chain depths of the runs that are queued or work.
    depths: BTreeMap<RunId, u32>,
    /// When the working run of an agent posts its answer.
    answers: BTreeMap<(u64, usize), RunId>,
    now: u64,
    seq: u64,
    outside: u64,
    last_end: Option<ChainEnded>,
    random: u64,
}

impl Play {
    fn new(agents: usize, seed: u64) -> Self {
        Self {
            space: SpaceSettings { max_chain_depth: 5, ..space(TriggerPolicy::All) },
            agents,
            lanes: vec![Lane::default(); agents],
            depths: BTreeMap::new(),
            answers: BTreeMap::new(),
            now: 0,
            seq: 0,
            outside: 0,
            last_end: None,
            random: seed,
        }
    }

    /// The time that a model takes: mostly short, sometimes long.
    fn model_time(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        let drawn = self.random >> 33;
        1 + if drawn.is_multiple_of(4) { drawn % 5_000 } else { drawn % 400 }
    }

    fn start(&mut self, agent: usize, run: RunId) {
        self.lanes[agent].runs[0].is_started = true;
        let at = self.now + self.model_time();
        self.answers.insert((at, agent), run);
    }

    /// Posts a message of an agent, or of the person.
    fn post(&mut self, sender: Option<usize>, chain_depth: u32) {
        self.seq += 1;
        if sender.is_none() {
            self.outside = self.seq;
        }
        let limits = WakeLimits { mode: ConcurrencyMode::Coalesce, ..limits() };
        let mut members = vec![member(PERSON, "Husam", None)];
        for (index, lane) in self.lanes.iter().enumerate() {
            let counts = !lane.takes_in(ConcurrencyMode::Coalesce);
            let auto_replies = counts.then(|| lane.auto_replies(self.outside));
            let agent = member(index as u128, NAMES[index], Some(&limits));
            members.push(Candidate { auto_replies, ..agent });
        }
        let incoming = IncomingMessage {
            sender: entity(sender.map_or(PERSON, |agent| agent as u128)),
            sender_kind: if sender.is_some() { EntityType::Agent } else { EntityType::Human },
            text: "I have something to say.",
            mentions: &[],
            chain_depth,
            chain_stopped: false,
            auto_since: sender.map(|_| self.outside),
            partner: None,
            reply_to: None,
            replies_to_expired: false,
        };
        let message = MessageId::new(Time::from_millis(1), u128::from(self.seq));
        let mut window = RateWindow::default();
        let decided =
            decide(&self.space, &members, incoming, Routing::Unasked, None, &mut window, |agent| {
                RunId::of_message(agent, message, Time::from_millis(self.seq as i64))
            });
        self.last_end = decided.chain_ended;
        for index in 0..self.agents {
            let mut entries = decided.dispatch.iter();
            let entry = entries.find(|it| it.agent_id == entity(index as u128));
            let woken = entry.and_then(|it| Some((it.run_id?, it.source?)));
            if let Some((run, source)) = woken {
                let counts = incoming.auto_since.filter(|_| source.is_auto_reply());
                self.enter(index, run, chain_depth, counts);
            }
        }
    }

    fn enter(&mut self, agent: usize, run_id: RunId, chain_depth: u32, counts: Option<u64>) {
        let space_id = SpaceId::new(Time::default(), 1);
        let run = RunRef {
            run_id,
            agent_id: entity(agent as u128),
            place: Some(MessageRef { space_id, seq: self.seq }),
            in_lane: true,
            is_fork: false,
        };
        match self.lanes[agent].enter(ConcurrencyMode::Coalesce, run, false) {
            LaneEntry::Place { position, .. } => {
                if let Some(outside) = counts {
                    self.lanes[agent].count_auto_reply(outside);
                }
                self.depths.insert(run_id, chain_depth);
                if position == 0 {
                    self.start(agent, run_id);
                }
            }
            LaneEntry::Joins(into) => {
                let depth = self.depths.get_mut(&into.run_id).unwrap();
                *depth = (*depth).max(chain_depth);
            }
            LaneEntry::Superseded => unreachable!("no run of this mode is replaced"),
        }
    }

    /// Lets all answer until nobody is left, and returns how many messages of agents there are.
    fn messages_of_agents(mut self) -> (u64, Option<ChainEnded>) {
        self.post(None, 0);
        while let Some(((now, agent), run)) = self.answers.pop_first() {
            self.now = now;
            let depth = self.depths.remove(&run).unwrap();
            self.post(Some(agent), depth + 1);
            if let Some(next) = self.lanes[agent].leave(run) {
                self.start(agent, next.run_id);
            }
        }
        (self.seq - 1, self.last_end)
    }
}

#[test]
fn agents_that_always_answer_end_after_four_messages_each() {
    for (agents, most) in [(3, 12), (10, 40)] {
        for seed in 1..=100 {
            let (messages, ended) = Play::new(agents, seed).messages_of_agents();
            assert!(messages <= most, "{messages} messages of {agents} agents, seed {seed}");
            assert!(messages >= agents as u64 * 2, "they do talk: {messages}, seed {seed}");
            assert!(ended.is_some(), "the last message says that it is the last, seed {seed}");
        }
    }
}
