//! What a version without turns has left behind.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{agents::ConcurrencyMode, ids::RunId, runs::RunStatus};

use crate::{
    Result, Runs,
    runs::{RunRecord, turns::Turns},
    table::{keys, refusal::Refusal},
};

/// Runs of an agent as they were read, to correct its turns. A version without turns ends runs and
/// starts them, and changes neither the slots nor the lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Others(BTreeMap<RunId, Option<RunRecord>>);

impl Others {
    /// A run that is stored.
    pub(crate) fn get(&self, run: RunId) -> Option<&RunRecord> {
        self.0.get(&run)?.as_ref()
    }

    /// Whether a run was read.
    pub(crate) fn know(&self, run: RunId) -> bool {
        self.0.contains_key(&run)
    }

    /// Adds runs that were read later.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Learns from a refusal which of the runs of `turns` could not be started. If the turns have
    /// changed, too, nothing is known any longer: a run that works may have taken its turn. Returns
    /// whether the refusal is about any of that.
    pub(crate) fn learn(&mut self, turns: &Turns, refusal: &Refusal) -> bool {
        let next = turns.next.iter().map(|run| (run.run_id, keys::run_meta(run.run_id)));
        let refused: Vec<_> = next.filter(|(_, key)| refusal.names(key)).collect();
        let have_changed = turns.have_changed(refusal);
        let is_about_turns = have_changed || !refused.is_empty();
        if have_changed {
            self.0.clear();
        } else {
            self.0.extend(refused.into_iter().map(|(run, key)| (run, refusal.existing(&key))));
        }
        is_about_turns
    }
}

impl Turns {
    /// Removes the runs that need no turn. No other run is started for that: a run that waits is
    /// due.
    pub(crate) fn correct(&mut self, others: &Others) {
        for (id, other) in &others.0 {
            match other {
                Some(run) if run.status == RunStatus::Running => {
                    self.lane.works(*id);
                    self.working.insert(*id);
                }
                Some(run) if needs_turn(run) => {}
                _ => {
                    self.forget(*id);
                }
            }
        }
    }
}

/// Whether a run works, or goes on when its turn comes.
fn needs_turn(run: &RunRecord) -> bool {
    match run.status {
        RunStatus::WaitingTool => run.open_calls == Some(0),
        status => status.is_active(),
    }
}

impl Runs<'_> {
    /// Corrects turns by the runs that waking their agent may change, and returns these.
    pub(crate) async fn correct(self, turns: &mut Turns, mode: ConcurrencyMode) -> Result<Others> {
        let others = self.others(turns.affected(mode)).await?;
        turns.correct(&others);
        Ok(others)
    }

    /// Reads runs to correct turns.
    pub(crate) async fn others(self, runs: impl IntoIterator<Item = RunId>) -> Result<Others> {
        // A run may be in a lane and wait for a slot.
        let ids: BTreeSet<_> = runs.into_iter().collect();
        if ids.is_empty() {
            return Ok(Others::default());
        }
        let places: Vec<_> = ids.iter().map(|run| keys::run_meta(*run)).collect();
        let mut found = self.store.table.get_all(&places).await?;
        let others = ids.into_iter().zip(&places).map(|(id, place)| Ok((id, found.take(place)?)));
        others.collect::<Result<_>>().map(Others)
    }
}
