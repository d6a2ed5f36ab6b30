//! Claims one run, and acts on the outcome of the claim.

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    time::Duration,
};

use futures::FutureExt;
use smartspace_domain::{Error, Result, Time, ids::LeaseId, jobs::RunRef, runs::RunStatus};
use smartspace_ports::queues::ReceivedJob;
use smartspace_store::runs::{RunRecord, TriggeredBy, claims::Claim};
use tokio::{sync::oneshot, time::Instant};

use crate::{
    agent_loop::worker::ClaimKind,
    claiming::{
        assemble::start_worker,
        deps::{Claimed, RunDeps},
        early_end::{cancel_deleted, cancel_removed, fail_after_crashes},
        forks::start_fork,
        remote_handover::{end_overdue, hand_to_remote, send_again},
    },
    prompt::reading::{PromptSources, SpaceContext, load_sources},
};

/// If the lease of another worker ends within this time, the job is delivered again, because that
/// worker may be dead.
const LEASE_ENDS_SOON: Duration = Duration::from_secs(10);

/// Claims a run and works on it, if it is the run's turn.
pub(super) async fn handle(
    deps: &RunDeps,
    run_ref: RunRef,
    delivery: &dyn ReceivedJob,
) -> Result<()> {
    let lease = deps.pipeline.token();
    let now = deps.pipeline.now();
    let at = Instant::now();
    let (claim, sources) = claim_and_load(deps, run_ref, &lease, now).await;
    match claim? {
        Claim::Ended | Claim::Remote => Ok(()),
        Claim::Busy { until } if until.since(now) > LEASE_ENDS_SOON => Ok(()),
        Claim::Busy { .. } => Err(Error::Retry(
            "the lease of another worker has not expired, or only just did".into(),
        )),
        Claim::TooOften(run) => fail_after_crashes(deps, &run, &lease).await,
        Claim::Unsent(run) => Box::pin(send_again(deps, &run)).await,
        Claim::Overdue(run) => Box::pin(end_overdue(deps, &run)).await,
        Claim::Waiting(run) => expire_forms(deps, &run).await,
        Claim::NotYet { run, position, is_new } => {
            if is_new {
                deps.pipeline.announce_queued(&run, position).await;
            }
            Ok(())
        }
        Claim::Ours { run, .. } if run.triggered_by == (TriggeredBy::Unknown {}) => {
            deps.give_back(&run, &lease).await?;
            Err(Error::Retry("the run has a cause that only a later version knows".into()))
        }
        Claim::Ours { run, first, resumed } => {
            if let Some(fork) = run.fork_of() {
                let claimed =
                    Claimed { run: *run, lease: lease.clone(), at, kind: ClaimKind::Fork };
                let working = Box::pin(start_fork(deps, claimed, fork, delivery));
                return noting_panics(deps, run_ref, &lease, working).await;
            }
            let kind = if first {
                ClaimKind::First
            } else if resumed {
                ClaimKind::Resumed
            } else {
                ClaimKind::Reclaimed
            };
            let claimed = Claimed { run: *run, lease: lease.clone(), at, kind };
            let working = Box::pin(start_run(deps, claimed, sources, run_ref, delivery));
            noting_panics(deps, run_ref, &lease, working).await
        }
    }
}

/// Works on a claimed run. A panic is stored with the run before it goes on, so that the end of the
/// run says what its workers died of.
async fn noting_panics(
    deps: &RunDeps,
    run: RunRef,
    lease: &LeaseId,
    working: impl Future<Output = Result<()>>,
) -> Result<()> {
    let panic = match AssertUnwindSafe(working).catch_unwind().await {
        Ok(result) => return result,
        Err(panic) => panic,
    };
    if let Err(error) = deps.pipeline.store.runs().note_panic(run.run_id, lease).await {
        tracing::warn!(run = %run.run_id, %error, "the panic of a run was not stored");
    }
    resume_unwind(panic)
}

/// Claims a run, and loads the sources of its prompt at the same time, because most claims succeed.
///
/// A claim that finds an older record needs the run itself. If a message triggered the run, the
/// sources include that record, and the channel saves a second read of it.
async fn claim_and_load(
    deps: &RunDeps,
    run_ref: RunRef,
    lease: &LeaseId,
    now: Time,
) -> (Result<Claim>, Result<Option<PromptSources>>) {
    let store = &deps.pipeline.store;
    let (run_tx, run_rx) = oneshot::channel();
    let read = async {
        match run_ref.place {
            Some(_) => run_rx.await.ok().flatten(),
            None => store.runs().record(run_ref.run_id).await.ok(),
        }
    };
    let claiming = Box::pin(store.runs().claim(&run_ref, lease, now, read));
    let loading = Box::pin(load_sources(store, &deps.seen, run_ref, Some(run_tx)));
    futures::join!(claiming, loading)
}

/// Works on a claimed run, unless its sources are gone or could not be read.
async fn start_run(
    deps: &RunDeps,
    claimed: Claimed,
    sources: Result<Option<PromptSources>>,
    loaded_for: RunRef,
    delivery: &dyn ReceivedJob,
) -> Result<()> {
    match current_sources(deps, sources, loaded_for, &claimed.run).await {
        Ok(Some(sources))
            if sources.trigger_space.as_ref().is_some_and(SpaceContext::is_deleted) =>
        {
            cancel_deleted(deps, &claimed.run, &claimed.lease).await
        }
        Ok(Some(sources)) => {
            let config = sources.agent.agent.as_ref();
            match config.and_then(|config| config.runtime.clone()) {
                Some(runtime) => Box::pin(hand_to_remote(deps, claimed, &sources, &runtime)).await,
                None => Box::pin(start_worker(deps, claimed, sources, delivery)).await,
            }
        }
        Ok(None) => cancel_removed(deps, &claimed.run, &claimed.lease).await,
        Err(error) => {
            deps.give_back(&claimed.run, &claimed.lease).await?;
            Err(error)
        }
    }
}

/// The sources of the prompt of a claimed run. They are read again if a newer message has joined
/// the run since its job was queued.
async fn current_sources(
    deps: &RunDeps,
    sources: Result<Option<PromptSources>>,
    loaded_for: RunRef,
    run: &RunRecord,
) -> Result<Option<PromptSources>> {
    let sources = if run.place() == loaded_for.place {
        sources
    } else {
        deps.load_sources(run.to_ref()).await
    };
    match sources? {
        Some(sources) => {
            let sources = sources.with_joined(&run.joined);
            Ok(Some(Box::pin(sources.with_pages_of_joined(&deps.pipeline.store)).await?))
        }
        None => Ok(None),
    }
}

/// Expires forms of a waiting run whose time is up. The run continues after the last one.
async fn expire_forms(deps: &RunDeps, run: &RunRecord) -> Result<()> {
    let pipeline = &deps.pipeline;
    if let Some(next) = pipeline.expire_forms(run.id).await? {
        pipeline.store.runs().keep_waiting(run, next).await?;
        pipeline.wake_at(run.id, next).await;
        return Ok(());
    }
    let now = pipeline.store.runs().record(run.id).await?;
    if now.status == RunStatus::WaitingTool && now.open_calls != Some(0) {
        // Queued at once, the run would be found waiting again, and again. It stays due, so
        // `sweep` tries again with growing pauses, and in the end gives it up with an alarm.
        tracing::warn!(run = %run.id, "a run waits for calls that nobody can answer");
        return Ok(());
    }
    pipeline.queue_runs(vec![run.job()]).await;
    Ok(())
}
