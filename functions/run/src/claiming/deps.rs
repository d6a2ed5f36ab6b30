//! The dependencies of work on any run, and the run that a claim adds.

use std::sync::Arc;

use smartspace_domain::{Result, ids::LeaseId, jobs::RunRef, prices::Prices, triggers::Trigger};
use smartspace_egress::{Egress, mcp::McpServers};
use smartspace_models::port::Model;
use smartspace_pipeline::Pipeline;
use smartspace_ports::sockets::Sockets;
use smartspace_store::runs::{RunRecord, triggers};
use tokio::{sync::watch, time::Instant};

use crate::{
    agent_loop::worker::ClaimKind,
    prompt::reading::{PromptSources, SourceCache, load_sources},
    remote::Callbacks,
};

/// The dependencies of work on runs. All runs of the process share them.
pub(super) struct RunDeps {
    pub(super) pipeline: Pipeline,
    pub(super) sockets: Arc<dyn Sockets>,
    pub(super) models: Arc<dyn Model>,
    pub(super) egress: Egress,
    pub(super) mcp: McpServers,
    pub(super) prices: Arc<Prices>,
    pub(super) callbacks: Callbacks,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) seen: SourceCache,
}

/// A run under the lease of this process.
pub(super) struct Claimed {
    pub(super) run: RunRecord,
    pub(super) lease: LeaseId,
    /// When the claim began.
    pub(super) at: Instant,
    pub(super) kind: ClaimKind,
}

impl RunDeps {
    /// Reads the sources of the prompt of a run.
    pub(super) async fn load_sources(&self, run: RunRef) -> Result<Option<PromptSources>> {
        Box::pin(load_sources(&self.pipeline.store, &self.seen, run, None)).await
    }

    /// The trigger of a run. Mostly it is a message that was read with the history.
    pub(super) async fn trigger(
        &self,
        run: &RunRecord,
        sources: &PromptSources,
    ) -> Result<Trigger> {
        let store = &self.pipeline.store;
        match &sources.trigger_space {
            Some(trigger_space) => Ok(triggers::of_message(
                run,
                &trigger_space.space.settings.name,
                &trigger_space.trigger,
                store.runs().delegation(run).await?,
            )),
            None => store.triggers().of(run).await,
        }
    }

    /// Gives up the lease of a run that another worker has to continue.
    pub(super) async fn give_back(&self, run: &RunRecord, lease: &LeaseId) -> Result<()> {
        self.pipeline.store.runs().give_back(run.id, lease, self.pipeline.now()).await
    }
}
