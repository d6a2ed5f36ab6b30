//! Stops a chain in a space, or everything in it.
//!
//! The stop is stored first: from then on no message of the chain wakes anybody in the space. Then
//! the active runs are canceled. If that is interrupted, the sweep finishes it.

use futures::future::try_join_all;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::EntityType,
    events::EventKind,
    ids::{ChainId, EntityId, LineId, RunId, SpaceId},
    runs::{EndReason, RunStatus},
    system_lines::SystemLine,
};
use smartspace_store::{
    runs::{RunRecord, lanes::Placement},
    spaces::{
        LineAt,
        lines::LineRecord,
        rosters::Roster,
        stops::{NewStop, Stopping, Stored},
    },
    table::pages::PageRequest,
};

use crate::{Pipeline, access::may_in};

/// How often the active runs are read: a run that is canceled at that moment may have handed its
/// message on.
const TRIES: usize = 20;
/// Of how many agents the active runs are read at once.
const AT_ONCE: usize = 16;

/// A stop that has taken effect.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// How many runs this request has canceled.
    pub canceled_runs: usize,
    /// The line of the stop. A repeated stop has the first one's.
    pub line: SystemLine,
}

/// The runs that a stop cancels.
#[derive(Clone, Copy)]
struct Wanted {
    space: SpaceId,
    /// Only those of this chain.
    chain: Option<ChainId>,
    /// Also those that other spaces, plans and services have triggered.
    everywhere: bool,
}

impl Wanted {
    fn has(&self, run: &RunRecord) -> bool {
        let is_here = self.everywhere || run.space_id() == Some(self.space);
        is_here && self.chain.is_none_or(|chain| run.chain_id() == chain)
    }
}

impl Pipeline {
    /// Stops the chain that a message belongs to: its messages wake nobody in the space any more,
    /// and its runs that the space has triggered are canceled, for the operator all of them. May be
    /// repeated.
    pub async fn stop_chain(&self, caller: Caller, space: SpaceId, seq: u64) -> Result<Stopped> {
        self.authorise(caller, SpaceAction::Stop, space).await?;
        let message = self.store.messages().record(space, seq).await?;
        let message =
            message.ok_or_else(|| Error::NotFound(format!("this space has no message {seq}")))?;
        self.stop(caller, space, Stopping::Chain { chain: message.chain_id(), seq }).await
    }

    /// Pauses a space and cancels all runs that it has triggered. May be repeated.
    pub async fn stop_space(&self, caller: Caller, space: SpaceId) -> Result<Stopped> {
        self.stop(caller, space, Stopping::Space).await
    }

    async fn stop(&self, by: Caller, space: SpaceId, what: Stopping) -> Result<Stopped> {
        let id = LineId::new(self.now(), self.ids.random());
        let new = NewStop { space, what, by, id };
        let may = |roster: &Roster| may_in(roster, by, SpaceAction::Stop);
        let Stored { record, is_new } = self.store.spaces().stop(&new, may, self.now()).await?;
        if is_new {
            self.announce(space, EventKind::SpaceLine { line: record.line.clone() }).await;
        }
        if is_new && what == Stopping::Space {
            let paused = Box::new(self.store.spaces().get(space).await?);
            self.announce(space, EventKind::SpaceUpdated { space: paused }).await;
        }
        // A member may have stopped before what the operator stops everywhere.
        let everywhere = by == Caller::Operator && record.chain.is_some();
        let wanted = Wanted { space, chain: record.chain, everywhere };
        let canceled_runs = Box::pin(self.cancel_wanted(wanted)).await?;
        self.store.spaces().stop_is_done(space, record.place()).await?;
        Ok(Stopped { canceled_runs, line: record.line })
    }

    /// Cancels the runs of a stop that are still active, if the request that stopped them did not
    /// get to that.
    pub async fn finish_stop(&self, space: SpaceId, at: LineAt) -> Result<()> {
        let Some(record) = self.store.spaces().line(space, at).await? else { return Ok(()) };
        if record.due.is_none() {
            return Ok(());
        }
        let LineRecord { chain, everywhere, .. } = record;
        match Box::pin(self.cancel_wanted(Wanted { space, chain, everywhere })).await {
            // The space was deleted meanwhile, which ends its runs.
            Err(Error::NotFound(_)) => return Ok(()),
            canceled => canceled?,
        };
        self.store.spaces().stop_is_done(space, at).await
    }

    /// What follows from the placements of runs that were just created. If their chain was stopped
    /// in their space since it was decided that they start, they are canceled. A stop that is
    /// stored later finds them itself.
    pub async fn unless_stopped(
        &self,
        space: SpaceId,
        chain: ChainId,
        created: &[RunId],
        mut placed: Vec<Placement>,
    ) -> Result<Vec<Placement>> {
        let record = match self.store.spaces().record(space).await {
            // The space was deleted, which ends its runs.
            Err(Error::NotFound(_)) => return Ok(placed),
            record => record?,
        };
        if !record.stops(chain, self.now()) {
            return Ok(placed);
        }
        for run in created {
            match self.cancel(*run, EndReason::Cancel).await {
                // It has ended, it has joined another run, or it was not created.
                Ok(_) | Err(Error::Conflict(_) | Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        for it in &mut placed {
            it.jobs.clear();
            it.queued = None;
        }
        Ok(placed)
    }

    async fn cancel_wanted(&self, wanted: Wanted) -> Result<usize> {
        let mut canceled = 0;
        for _ in 0..TRIES {
            let mut active = self.active_runs(wanted).await?;
            if active.is_empty() {
                return Ok(canceled);
            }
            // A run that ends lets one start that waits for it: those that wait come first.
            active.sort_by_key(|run| run.status != RunStatus::Queued);
            for run in &active {
                match self.cancel_record(run, EndReason::Cancel).await {
                    Ok(_) => canceled += 1,
                    // It ended or was deleted meanwhile.
                    Err(Error::Conflict(_) | Error::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Err(Error::Retry("runs of this chain start all the time".into()))
    }

    /// The active runs, by the items of their agents: an index may not show a new run yet.
    async fn active_runs(&self, wanted: Wanted) -> Result<Vec<RunRecord>> {
        let agents = if wanted.everywhere {
            self.all_agents().await?
        } else {
            self.store.members().roster(wanted.space).await?.agents().collect()
        };
        let mut runs = Vec::new();
        for agents in agents.chunks(AT_ONCE) {
            let state = self.store.agent_state();
            let active = try_join_all(agents.iter().map(|agent| state.active(*agent))).await?;
            let active: Vec<_> = active.into_iter().flatten().collect();
            runs.extend(self.store.runs().still_active(&active).await?);
        }
        runs.retain(|run| wanted.has(run));
        Ok(runs)
    }

    async fn all_agents(&self) -> Result<Vec<EntityId>> {
        let mut agents = Vec::new();
        let mut cursor = None;
        loop {
            let request = PageRequest { cursor, limit: None };
            let page = self.store.entities().list(&request).await?;
            let found = page.items.iter().filter(|entity| entity.kind == EntityType::Agent);
            agents.extend(found.map(|entity| entity.id));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(agents);
            }
        }
    }
}
