//! Loads what a fork continues: the prompt and the steps of the run that it replays.

use smartspace_domain::{
    Error, Result,
    jobs::RunRef,
    runs::{ForkOf, RunStatus},
};
use smartspace_ports::queues::ReceivedJob;
use smartspace_store::runs::RunRecord;

use crate::{
    claiming::{
        assemble::{Work, work},
        deps::{Claimed, RunDeps},
        early_end::end_early,
    },
    dry_run::DryRun,
    prompt::reading::PromptSources,
};

/// Works on a fork: on the prompt and the steps of the run that it replays.
pub(super) async fn work_on_fork(
    deps: &RunDeps,
    claimed: Claimed,
    fork: ForkOf,
    delivery: &dyn ReceivedJob,
) -> Result<()> {
    let Claimed { run, lease, .. } = &claimed;
    match Box::pin(replayed(deps, run, fork)).await {
        Ok(Some((sources, continued))) => {
            Box::pin(work(deps, claimed, sources, continued, delivery)).await
        }
        Ok(None) => end_early(deps, run, lease, RunStatus::Canceled).await,
        Err(error) => {
            deps.give_back(run, lease).await?;
            Err(error)
        }
    }
}

/// Loads the sources and the state that a fork continues. Returns `None` if the other run, its
/// agent or its space is gone.
async fn replayed(
    deps: &RunDeps,
    run: &RunRecord,
    fork: ForkOf,
) -> Result<Option<(PromptSources, Work)>> {
    let store = &deps.pipeline.store;
    let original = match store.runs().record(fork.run_id).await {
        Err(Error::NotFound(_)) => return Ok(None),
        found => found?,
    };
    let replayed_ref = RunRef { run_id: run.id, ..original.to_ref() };
    let Some(mut sources) = deps.load_sources(replayed_ref).await? else { return Ok(None) };
    let (changes, own, replayed, trigger) = futures::try_join!(
        store.runs().fork_changes(run.id),
        store.steps().progress(run.id),
        store.steps().progress(original.id),
        store.triggers().of(&original),
    )?;
    let dry = DryRun::new(fork, &original, &replayed, &changes);
    if let Some(config) = &mut sources.agent.agent {
        changes.apply(config);
    }
    let work = Work { progress: replayed.forked(fork, own), trigger, dry: Some(dry) };
    Ok(Some((sources, work)))
}
