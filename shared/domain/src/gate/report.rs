//! What the dials would have done about messages that have scores.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    gate::{Dial, Gate, Would},
    ids::{EntityId, MessageId},
};

/// How many messages a report is about.
pub const REPORTED: usize = 500;

/// What was done about the last messages that have scores, and what each dial would have done
/// without a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateReport {
    /// The number of the messages, at most 500.
    pub messages: u64,
    /// The `seq` of the first of them; null if there are none.
    #[schema(required)]
    pub from_seq: Option<u64>,
    /// The `seq` of the last of them; null if there are none.
    #[schema(required)]
    pub to_seq: Option<u64>,
    /// What was done.
    pub now: Outcome,
    /// What each dial would have done, from the quietest.
    pub dials: Vec<DialOutcome>,
}

/// What messages led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The runs that the messages triggered.
    pub wakes: u64,
    /// The pairs of a message and an agent that posted in answer to it.
    pub answers: u64,
}

/// What a dial would have led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialOutcome {
    /// The dial.
    pub dial: Dial,
    /// The runs that it would have triggered.
    pub wakes: u64,
    /// The answers of the agents that it would have woken.
    pub answers: u64,
}

/// A message of a report.
#[derive(Clone, Copy, Debug)]
pub struct Reported<'a> {
    /// The message.
    pub id: MessageId,
    /// Its position in the space.
    pub seq: u64,
    /// Its scores.
    pub gate: &'a Gate,
    /// How many runs it triggered.
    pub wakes: usize,
}

/// A report that grows, from the newest message to the oldest.
#[derive(Clone, Debug)]
pub struct GateTally {
    max_agents: usize,
    /// The agents that answered a message. An answer is newer than its message.
    answered: BTreeMap<MessageId, BTreeSet<EntityId>>,
    report: GateReport,
}

impl GateTally {
    /// Nothing is counted yet. Of a message, each dial wakes at most `max_agents`.
    pub fn new(max_agents: u32) -> Self {
        let dials = Dial::ALL.map(|dial| DialOutcome { dial, wakes: 0, answers: 0 });
        let report = GateReport {
            messages: 0,
            from_seq: None,
            to_seq: None,
            now: Outcome::default(),
            dials: dials.into(),
        };
        Self { max_agents: max_agents as usize, answered: BTreeMap::new(), report }
    }

    /// Whether the report has all of its messages.
    pub fn is_full(&self) -> bool {
        self.report.messages as usize >= REPORTED
    }

    /// Notes that an agent posted in answer to a message.
    pub fn answers(&mut self, message: MessageId, agent: EntityId) {
        self.answered.entry(message).or_default().insert(agent);
    }

    /// Counts a message that is older than all before. One without scores does not count.
    pub fn add(&mut self, message: Reported<'_>) {
        let scores = &message.gate.scores;
        let answered = self.answered.remove(&message.id).unwrap_or_default();
        if scores.is_empty() || self.is_full() {
            return;
        }
        let report = &mut self.report;
        report.messages += 1;
        report.from_seq = Some(message.seq);
        report.to_seq = report.to_seq.or(Some(message.seq));
        report.now.wakes += message.wakes as u64;
        report.now.answers += answered.len() as u64;
        for outcome in &mut report.dials {
            let thresholds = outcome.dial.thresholds(false);
            let mut woken: Vec<_> =
                scores.iter().filter(|it| thresholds.would(it.score) == Would::Wake).collect();
            woken.sort_by(|one, other| other.score.total_cmp(&one.score));
            woken.truncate(self.max_agents);
            outcome.wakes += woken.len() as u64;
            let has_answered = woken.iter().filter(|it| answered.contains(&it.agent_id));
            outcome.answers += has_answered.count() as u64;
        }
    }

    /// The report.
    pub fn report(self) -> GateReport {
        self.report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Time,
        gate::{GateSettings, Score},
    };

    fn agent(number: u128) -> EntityId {
        EntityId::new(Time::from_millis(1), number)
    }

    fn message(number: u128) -> MessageId {
        MessageId::new(Time::from_millis(1), number)
    }

    fn scored(scores: &[f64]) -> Gate {
        let score = |(number, score): (u128, &f64)| Score {
            agent_id: agent(number),
            score: *score,
            because: Vec::new(),
            words: String::new(),
        };
        let scores: Vec<_> = (1..).zip(scores).map(score).collect();
        Gate::new(GateSettings::default(), false, &scores)
    }

    #[test]
    fn wakes_and_answers_are_counted_for_each_dial() {
        let mut tally = GateTally::new(2);
        tally.answers(message(7), agent(1));
        tally.answers(message(7), agent(1));
        tally.answers(message(7), agent(3));
        tally.answers(message(5), agent(2));
        for (number, seq, scores, wakes) in
            [(9, 9, &[] as &[f64], 3), (7, 7, &[0.05, 0.2, 0.1], 3), (5, 5, &[0.01, 0.06, 0.0], 2)]
        {
            let gate = scored(scores);
            tally.add(Reported { id: message(number), seq, gate: &gate, wakes });
        }
        let report = tally.report();
        assert_eq!((report.messages, report.from_seq, report.to_seq), (2, Some(5), Some(7)));
        assert_eq!(report.now, Outcome { wakes: 5, answers: 3 });
        let dials = report.dials.iter().map(|it| (it.dial, it.wakes, it.answers));
        assert_eq!(
            dials.collect::<Vec<_>>(),
            [(Dial::Quiet, 1, 0), (Dial::Balanced, 2, 1), (Dial::Lively, 3, 2)]
        );
    }
}
