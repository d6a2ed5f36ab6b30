//! Runs: how they are stored and read. [`crate::runs::claims`] describes how they are claimed, and
//! [`crate::runs::endings`] how they end.

mod active;
pub mod cards;
pub mod claims;
pub mod delegations;
pub mod endings;
pub mod forms;
mod marks;
pub mod prompts;
mod record;
pub mod steps;
mod triggered_by;
pub mod triggers;

use smartspace_domain::{
    ids::{EntityId, RunId, SpaceId},
    runs::{Run, RunStatus},
};

pub use self::{
    active::{ActiveCause, ActiveRecord, active_view},
    record::{RunRecord, Tried},
    triggered_by::TriggeredBy,
};
use crate::{
    Error, Result, Runs,
    table::{
        Query, WriteError,
        indexes::Index,
        key_of, keys,
        pages::{Ask, Page},
        write::Write,
    },
};

impl Runs<'_> {
    /// A run, as it is stored.
    pub async fn record(self, id: RunId) -> Result<RunRecord> {
        let record: Option<RunRecord> = self.store.table.get(&keys::run_meta(id)).await?;
        record.ok_or_else(no_such_run)
    }

    /// A run as the API shows it, without steps.
    pub async fn get(self, record: &RunRecord) -> Result<Run> {
        let mut runs = self.views(std::slice::from_ref(record)).await?;
        runs.pop().ok_or_else(|| Error::Internal("a run has no view".into()))
    }

    async fn views(self, records: &[RunRecord]) -> Result<Vec<Run>> {
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

    /// An agent's runs, newest first.
    pub async fn of_agent(
        self,
        agent: EntityId,
        status: Option<RunStatus>,
        ask: &Ask,
    ) -> Result<Page<Run>> {
        self.runs_in(Index::LISTS, keys::runs_of_agent(agent), status, ask).await
    }

    /// The runs that a space woke, newest first.
    pub async fn of_space(self, space: SpaceId, ask: &Ask) -> Result<Page<Run>> {
        self.runs_in(Index::SPACE_RUNS, keys::runs_of_space(space), None, ask).await
    }

    async fn runs_in(
        self,
        index: Index,
        partition: String,
        status: Option<RunStatus>,
        ask: &Ask,
    ) -> Result<Page<Run>> {
        let after = ask.after(index.keys, &partition)?;
        let query = Query::of_index(index, partition).newest_first();
        let page = self.store.table.page(query.limit(ask.limit()?).after(after)).await?;
        let wanted = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut records = Vec::with_capacity(wanted.len());
        let mut entries = Vec::with_capacity(wanted.len());
        for (key, entry) in wanted.iter().zip(page.items) {
            let record: Option<RunRecord> = found.take(key)?;
            if let Some(record) =
                record.filter(|record| status.is_none_or(|status| record.status == status))
            {
                records.push(record);
                entries.push(entry);
            }
        }
        let found = entries.into_iter().zip(self.views(&records).await?);
        Ok(Page::cut(found, page.next, index.keys.sk))
    }

    /// Queues the run of a decided dispatch, unless it exists already. Returns whether the run is
    /// new or still queued.
    pub async fn create(self, run: &RunRecord, active: &ActiveRecord) -> Result<bool> {
        let writes = [
            Write::put(keys::run_meta(run.id), run)?.if_absent(),
            Write::put(keys::active_run(run.agent_id, run.id), active)?,
        ];
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(refusal)) => Ok(refusal
                .existing::<RunRecord>(&keys::run_meta(run.id))
                .is_some_and(|run| run.status == RunStatus::Queued)),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// The error of a run that does not exist, or that the caller may not know of.
pub fn no_such_run() -> Error {
    Error::NotFound("there is no such run".into())
}
