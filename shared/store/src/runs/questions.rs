//! Questions that are not left to silence. A run that ends in silence and whose message is one
//! stays due until somebody has looked after it.
//!
//! If all runs of a question ended in silence, the best of their agents gets one more run. Its id
//! follows from the message: however many look at the same moment, one run starts.

use std::collections::BTreeSet;

use smartspace_domain::{
    Time,
    dispatch::{Best, Source},
    ids::{RunId, SpaceId},
    limits,
    quota::QuotaUser,
};

use crate::{
    Error, Result, Runs,
    runs::{RunRecord, created_before, lanes::Placement, retries::Retry},
    shared::message::MessageRecord,
    spaces::rosters::Roster,
    table::{keys, write::Write},
};

/// A message, and the runs that it triggered. A run that joined another one, or that another one
/// replaced, counts as that one.
#[derive(Clone, Debug)]
pub struct Asked {
    pub message: MessageRecord,
    /// `None` if one of them is not stored: it is not made yet.
    runs: Option<Vec<RunRecord>>,
}

impl Asked {
    /// When the last of its runs ended, if it is a question and they all ended in silence.
    pub fn silent_since(&self) -> Option<Time> {
        let runs = self.runs.as_ref().filter(|_| self.message.asks)?;
        let ends = runs.iter().filter(|run| run.ended_in_silence()).map(|run| run.finished_at);
        let ends: Vec<_> = ends.flatten().collect();
        ends.iter().max().copied().filter(|_| ends.len() == runs.len())
    }
}

impl Runs<'_> {
    /// The messages that a run was to answer, and the questions of the run that it replaced, with
    /// all runs that they triggered.
    pub async fn asked(self, run: &RunRecord) -> Result<Vec<Asked>> {
        let Some(place) = run.place() else { return Ok(Vec::new()) };
        let own = run.joined.iter().copied().chain([place.seq]);
        let seqs = own.chain(run.silence.asked_before.iter().copied());
        let space = place.space_id;
        let messages = self.store.messages();
        let places: Vec<_> = seqs.map(|seq| (space, seq)).collect();
        let records: Vec<_> = messages.at(&places).await?.into_iter().flatten().collect();
        let shown = messages.with_long_texts(space, records.clone()).await?;
        let triggered: Vec<Option<Vec<RunId>>> = shown
            .into_iter()
            .map(|message| Some(message.dispatch?.iter().filter_map(|it| it.run_id).collect()))
            .collect();
        let ids = triggered.iter().flatten().flatten().copied().collect();
        let mut runs = self.lane_runs(ids).await?;
        // One message after the other may have replaced the run before.
        for _ in 0..limits::ACTIVE_RUNS {
            let into = runs.values().filter_map(RunRecord::answered_by);
            let into: Vec<_> = into.filter(|id| !runs.contains_key(id)).collect();
            if into.is_empty() {
                break;
            }
            runs.extend(self.lane_runs(into).await?);
        }
        let last = |run: &RunRecord| {
            let mut last = run.id;
            while let Some(into) = runs.get(&last).and_then(RunRecord::answered_by) {
                last = into;
            }
            last
        };
        let of = |ids: Vec<RunId>| -> Option<Vec<RunRecord>> {
            let stored: Option<Vec<_>> = ids.iter().map(|id| runs.get(id)).collect();
            let working: BTreeSet<_> = stored?.into_iter().map(last).collect();
            working.iter().map(|id| runs.get(id).cloned()).collect()
        };
        let asked = records.into_iter().zip(triggered);
        Ok(asked.map(|(message, ids)| Asked { message, runs: ids.and_then(of) }).collect())
    }

    /// Lets the best agent that was silent answer a question, unless that was done before. The
    /// placement is empty if none of them can be triggered.
    pub async fn answer_unanswered(
        self,
        space: SpaceId,
        asked: &Asked,
        roster: &Roster,
        now: Time,
    ) -> Result<Placement> {
        let Asked { message, runs } = asked;
        let silent = runs.as_deref().unwrap_or_default();
        let id = RunId::of_unanswered(message.id, message.created_at);
        if let Some(made) = self.store.table.get(&keys::run_meta(id)).await? {
            return Ok(created_before(&made));
        }
        let agents: Vec<_> = silent.iter().map(|run| run.agent_id).collect();
        let scores = self.store.messages().scores(space, message, roster, &agents).await?;
        let by = QuotaUser::member(message.sender.id, true);
        for (agent, _) in Best::order(&scores) {
            let Some(of) = silent.iter().find(|run| run.agent_id == agent) else { continue };
            let source = Source::Unanswered;
            let run = RunRecord::triggered(id, agent, space, message, source, now);
            let retry = Retry { of, by: by.clone(), chain_depth: message.chain_depth };
            match Box::pin(self.repeat(&retry, &run.traced(self.store), now)).await {
                Ok((_, placement)) => return Ok(placement),
                // The agent can't be triggered now. Another one may.
                Err(Error::Conflict(_) | Error::TooMany { .. } | Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Placement::default())
    }

    /// Takes a run off the due index, once somebody has looked after its questions.
    pub async fn looked_after(self, run: RunId) -> Result<()> {
        let write = Write::update(keys::run_meta(run), "REMOVE #due, #dueAt, #dueCount");
        self.store.table.write_where_it_holds(write).await
    }

    /// Lets the sweep look after the questions of a run from `at` on.
    pub async fn look_after_at(self, run: RunId, at: Time) -> Result<()> {
        let write =
            Write::update(keys::run_meta(run), "SET #due = :due, #dueAt = :at REMOVE #dueCount");
        let due = keys::due(run.part_of(keys::DUE_PARTS));
        let write = write.value(":due", due)?.value(":at", at)?;
        self.store.table.write_where_it_holds(write).await
    }
}
