//! Loads what a fork continues: the prompt and the steps of the run that it replays.

use smartspace_domain::{Error, Result, jobs::RunRef, runs::ForkOf};
use smartspace_ports::queues::ReceivedJob;
use smartspace_store::runs::RunRecord;

use crate::{
    claiming::{
        assemble::{ResumePoint, run_worker},
        deps::{Claimed, RunDeps},
        early_end::cancel_removed,
    },
    dry_run::DryRun,
    prompt::reading::PromptSources,
};

/// Works on a fork: on the prompt and the steps of the run that it replays.
pub(super) async fn start_fork(
    deps: &RunDeps,
    claimed: Claimed,
    fork: ForkOf,
    delivery: &dyn ReceivedJob,
) -> Result<()> {
    let Claimed { run, lease, .. } = &claimed;
    match Box::pin(load_fork(deps, run, fork)).await {
        Ok(Some((sources, resume_point))) => {
            Box::pin(run_worker(deps, claimed, sources, resume_point, delivery)).await
        }
        Ok(None) => cancel_removed(deps, run, lease).await,
        Err(error) => {
            deps.give_back(run, lease).await?;
            Err(error)
        }
    }
}

/// Loads the sources and the state that a fork continues. Returns `None` if the other run, its
/// agent or its space is gone.
async fn load_fork(
    deps: &RunDeps,
    run: &RunRecord,
    fork: ForkOf,
) -> Result<Option<(PromptSources, ResumePoint)>> {
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
    let dry_run = DryRun::new(fork, &original, &replayed, &changes);
    if let Some(config) = &mut sources.agent.agent {
        changes.apply(config);
    }
    let resume_point =
        ResumePoint { progress: replayed.forked(fork, own), trigger, dry_run: Some(dry_run) };
    Ok(Some((sources, resume_point)))
}
