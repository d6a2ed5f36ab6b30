//! Hands a claimed run to a remote agent: stores the prompt for the agent, and sends the webhook.

use std::time::Duration;

use smartspace_domain::{
    Error, Result,
    agents::Runtime,
    events::EventKind,
    runs::{FailureCode, RunError, RunStatus},
};
use smartspace_store::runs::RunRecord;

use crate::{
    agent_loop::worker::ClaimKind,
    claiming::{
        deps::{Claimed, RunDeps},
        early_end::{cancel_removed, end_run},
    },
    prompt::reading::PromptSources,
    remote::{
        WebhookPayload, agent_prompt, prompt_record,
        webhook::{Webhook, WebhookOutcome},
    },
};

/// How long a remote agent may take to answer the webhook, including repeats.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Hands a claimed run on to its remote agent.
pub(super) async fn hand_to_remote(
    deps: &RunDeps,
    claimed: Claimed,
    sources: &PromptSources,
    runtime: &Runtime,
) -> Result<()> {
    let Claimed { run, lease, kind, .. } = claimed;
    let now = deps.pipeline.now();
    let trigger = deps.trigger(&run, sources).await?;
    let Some(prompt) = agent_prompt(&run, sources, &trigger, now) else {
        return cancel_removed(deps, &run, &lease).await;
    };
    let stored = prompt_record(&prompt)?;
    let until = now + runtime.timeout();
    let run =
        match deps.pipeline.store.runs().hand_to_remote(&run, &lease, until, &stored, now).await {
            Ok(run) => run,
            Err(Error::LeaseLost) => return Ok(()),
            Err(error) => return Err(error),
        };
    let announcing = async {
        if kind == ClaimKind::First {
            let view = run.view(trigger.clone(), None);
            deps.pipeline.announce_run(&run, view, |run| EventKind::RunStarted { run }).await;
        }
    };
    let payload = WebhookPayload { run: &run, sources, trigger: &trigger, prompt: &prompt };
    let sending = Box::pin(send(deps, payload, runtime));
    futures::join!(sending, announcing).0
}

/// Sends the webhook of a run again, because nobody knows whether it was sent.
pub(super) async fn send_again(deps: &RunDeps, run: &RunRecord) -> Result<()> {
    let sources = deps.load_sources(run.to_ref()).await?;
    let Some(sources) = sources.map(|sources| sources.with_joined(&run.joined)) else {
        return end_remote(deps, run, RunStatus::Canceled, None).await;
    };
    let sources = Box::pin(sources.with_pages_of_joined(&deps.pipeline.store)).await?;
    let runtime = sources.agent.agent.as_ref().and_then(|config| config.runtime.as_ref());
    let Some(runtime) = runtime else {
        let text = "the agent no longer has a runtime that could work on the run";
        return fail_remote(deps, run, FailureCode::NotConfigured, text).await;
    };
    let trigger = deps.trigger(run, &sources).await?;
    let Some(prompt) = agent_prompt(run, &sources, &trigger, deps.pipeline.now()) else {
        return Ok(());
    };
    let payload = WebhookPayload { run, sources: &sources, trigger: &trigger, prompt: &prompt };
    Box::pin(send(deps, payload, runtime)).await
}

/// Fails a run whose remote agent did not complete it in time.
pub(super) async fn end_overdue(deps: &RunDeps, run: &RunRecord) -> Result<()> {
    let since = run.started_at.unwrap_or(run.created_at);
    let until = run.remote.as_ref().map_or(since, |remote| remote.until);
    let seconds = until.since(since).as_secs();
    let text = format!("the remote agent did not complete the run within {seconds} seconds");
    fail_remote(deps, run, FailureCode::Timeout, &text).await
}

/// Sends the webhook, and fails the run if the agent refuses it or can't be reached.
async fn send(deps: &RunDeps, payload: WebhookPayload<'_>, runtime: &Runtime) -> Result<()> {
    let run = payload.run;
    let Some(remote) = &run.remote else { return Ok(()) };
    let webhook = Webhook {
        pipeline: &deps.pipeline,
        callbacks: &deps.callbacks,
        egress: &deps.egress,
        runtime,
        limit: ANSWER_TIMEOUT,
    };
    match webhook.send(&payload, remote, deps.pipeline.now()).await {
        WebhookOutcome::Accepted => deps.pipeline.store.runs().note_sent(run.id, remote).await,
        WebhookOutcome::Failed(code, text) => fail_remote(deps, run, code, &text).await,
    }
}

async fn fail_remote(deps: &RunDeps, run: &RunRecord, code: FailureCode, text: &str) -> Result<()> {
    let error = RunError { code, message: text.to_owned() };
    end_remote(deps, run, RunStatus::Failed, Some(error)).await
}

/// Ends a run under the lease of its remote agent.
async fn end_remote(
    deps: &RunDeps,
    run: &RunRecord,
    status: RunStatus,
    error: Option<RunError>,
) -> Result<()> {
    let Some(remote) = &run.remote else { return Ok(()) };
    end_run(deps, run, &remote.lease, status, error).await
}
