//! Runs: how they are stored and read. [`crate::runs::claims`] describes how they are claimed, and
//! [`crate::runs::endings`] how they end.

mod active;
pub mod approvals;
mod awaited_input;
mod call_approval;
mod card_ref;
pub mod cards;
pub mod claims;
pub mod delegations;
mod end_writes;
pub mod endings;
pub mod forgetting;
pub mod forks;
pub mod forms;
pub mod lanes;
pub mod listing;
mod marks;
mod membership;
mod of_deleted;
pub mod places;
pub mod prompts;
pub mod questions;
mod record;
pub mod remote;
pub mod retries;
mod short_views;
mod silence;
pub mod steps;
mod triggered_by;
pub mod triggers;
mod words;

use smartspace_domain::{
    Time,
    agents::ConcurrencyMode,
    ids::RunId,
    runs::{Run, RunStatus},
};

pub(crate) use self::words::with_first_post;
pub use self::{
    active::{ActiveCause, ActiveRecord, MessageTexts, active_view},
    membership::RunMembership,
    record::{RunRecord, Tried},
    remote::RemoteRecord,
    triggered_by::TriggeredBy,
    words::FirstPost,
};
use crate::{
    Error, Result, Runs,
    optimistic_retry::RUNS_CHANGE,
    runs::lanes::{NewRun, Placement},
    table::{WriteError, keys},
};

impl Runs<'_> {
    /// A run, as it is stored.
    pub async fn record(self, id: RunId) -> Result<RunRecord> {
        let record: Option<RunRecord> = self.store.table.get(&keys::run_meta(id)).await?;
        record.ok_or_else(no_such_run)
    }

    /// Those of these runs that are stored, in the given order.
    pub(crate) async fn records(
        self,
        ids: impl IntoIterator<Item = RunId>,
    ) -> Result<Vec<RunRecord>> {
        let wanted: Vec<_> = ids.into_iter().map(keys::run_meta).collect();
        let mut found = self.store.table.get_all(&wanted).await?;
        let records = wanted.iter().map(|key| found.take(key)).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().flatten().collect())
    }

    /// A run as the API shows it, without steps.
    pub async fn get(self, record: &RunRecord) -> Result<Run> {
        let mut runs = self.views(std::slice::from_ref(record)).await?;
        runs.pop().ok_or_else(|| Error::Internal("a run has no view".into()))
    }

    /// Runs as the API shows them, without steps.
    pub async fn views(self, records: &[RunRecord]) -> Result<Vec<Run>> {
        let failed: Vec<_> = records
            .iter()
            .filter(|run| run.status == RunStatus::Failed)
            .map(|run| keys::run_error(run.id))
            .collect();
        let (triggers, mut errors) = futures::try_join!(
            self.store.triggers().of_all(records),
            self.store.table.get_all(&failed)
        )?;
        let each = records.iter().zip(triggers);
        each.map(|(record, trigger)| {
            Ok(record.view(trigger, errors.take(&keys::run_error(record.id))?))
        })
        .collect()
    }

    /// Wakes the agent of a decided dispatch, unless its run exists already. `auto_since` is that
    /// of the message.
    pub async fn create(
        self,
        run: &RunRecord,
        active: &ActiveRecord,
        mode: ConcurrencyMode,
        auto_since: Option<u64>,
        now: Time,
    ) -> Result<Placement> {
        let run = &run.clone().traced(self.store);
        let mut tries = self.store.optimistic_retry_of(run.agent_id);
        loop {
            let new = NewRun { run: run.clone(), active: active.clone(), mode, auto_since };
            let Some(placement) = self.place(new, now).await? else {
                return Ok(created_before(&self.record(run.id).await?));
            };
            let refusal = match self.store.table.transact(&placement.writes).await {
                Ok(()) => return Ok(placement),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            let item_key = keys::run_meta(run.id);
            if refusal.names(&item_key) {
                return Ok(match refusal.existing::<RunRecord>(&item_key) {
                    // The first try took effect and its answer was lost.
                    Some(stored) if stored.created_at == run.created_at => placement,
                    stored => stored.as_ref().map_or_else(Placement::default, created_before),
                });
            }
            tries.after_conflict(RUNS_CHANGE).await?;
        }
    }
}

/// The placement of a run that exists already: it is queued again if it waits for nothing.
fn created_before(run: &RunRecord) -> Placement {
    let is_queued = run.status == RunStatus::Queued && run.waits_for.is_none();
    Placement { jobs: is_queued.then(|| run.job()).into_iter().collect(), ..Placement::default() }
}

/// The error of a run that does not exist, or that the caller may not know of.
pub fn no_such_run() -> Error {
    Error::NotFound("there is no such run".into())
}
