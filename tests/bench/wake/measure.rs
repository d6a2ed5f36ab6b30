//! What a policy wakes, and what it finds.

use std::{path::Path, time::Instant};

use smartspace_domain::gate;

use crate::{Result, log, policies};

/// A member that could answer a message.
pub(crate) struct Pair {
    pub(crate) score: f64,
    /// Whether it answered.
    pub(crate) answered: bool,
    /// Which of the simple policies wake it.
    pub(crate) woken: policies::Woken,
}

/// A message of the set, with all who could answer it.
pub(crate) struct Message {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) out_of_reach: usize,
    /// Whether it asks and names nobody.
    pub(crate) is_open_question: bool,
    pub(crate) names_nobody: bool,
    /// The microseconds for each member, features included.
    pub(crate) micros: f64,
}

/// All messages of a set.
pub(crate) struct Set {
    pub(crate) messages: Vec<Message>,
}

/// How many a policy wakes, and how many of them are right.
pub(crate) struct Reached {
    /// Woken members for each message.
    pub(crate) wakes: f64,
    /// The share of the answers whose senders were woken.
    pub(crate) recall: f64,
    /// The share of the woken that answered.
    pub(crate) precision: f64,
}

impl Set {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let columns = policies::Columns::new()?;
        let mut messages = Vec::new();
        for log in log::read_all(folder)? {
            for asked in log.asked() {
                let talk = asked.talk();
                let start = Instant::now();
                let scores = gate::scores(&talk, &asked.candidates);
                let micros = start.elapsed().as_secs_f64() * 1e6;
                let rows = gate::features(&talk, &asked.candidates);
                let woken = columns.woken(&rows);
                let pairs = scores.iter().zip(&asked.answered).zip(woken);
                let pairs = pairs.map(|((score, answered), woken)| Pair {
                    score: score.score,
                    answered: *answered,
                    woken,
                });
                messages.push(Message {
                    pairs: pairs.collect(),
                    out_of_reach: asked.out_of_reach,
                    is_open_question: columns.is_open_question(&rows),
                    names_nobody: columns.names_nobody(&rows),
                    micros: micros / asked.candidates.len().max(1) as f64,
                });
            }
        }
        Ok(Self { messages })
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.messages.iter().flat_map(|message| &message.pairs)
    }

    pub(crate) fn answers(&self) -> usize {
        self.pairs().filter(|pair| pair.answered).count()
    }

    /// What a policy reaches that wakes some pairs.
    pub(crate) fn reached(&self, wakes: impl Fn(&Pair) -> bool) -> Reached {
        let woken = self.pairs().filter(|pair| wakes(pair));
        let (count, right) = woken
            .fold((0, 0), |(count, right), pair| (count + 1, right + usize::from(pair.answered)));
        Reached {
            wakes: f64::from(count) / self.messages.len() as f64,
            recall: right as f64 / self.answers() as f64,
            precision: right as f64 / f64::from(count),
        }
    }

    /// The curve: for each threshold, from the highest, what waking from it on reaches.
    pub(crate) fn curve(&self) -> Vec<(f64, Reached)> {
        let mut scores: Vec<(f64, bool)> =
            self.pairs().map(|pair| (pair.score, pair.answered)).collect();
        scores.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let answers = self.answers() as f64;
        let mut curve = Vec::new();
        let mut right = 0;
        for (at, (score, answered)) in scores.iter().enumerate() {
            right += usize::from(*answered);
            if scores.get(at + 1).is_some_and(|(next, _)| next >= score) {
                continue;
            }
            let count = (at + 1) as f64;
            let reached = Reached {
                wakes: count / self.messages.len() as f64,
                recall: right as f64 / answers,
                precision: right as f64 / count,
            };
            curve.push((*score, reached));
        }
        curve
    }
}
