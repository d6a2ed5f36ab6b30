//! Hands a run on to a remote agent: stores what the agent is sent, and sends the webhook.
//!
//! The webhook carries a token with which the agent answers. It is computed from the lease, so a
//! webhook that is sent again, because the worker before died, carries the same one.

mod webhook;

use std::time::Duration;

use smartspace_domain::{
    Error, Result, Time,
    agents::Runtime,
    callbacks::CallbackKey,
    events::EventKind,
    runs::{FailureCode, RunError, RunStatus},
    triggers::Trigger,
};
use smartspace_store::runs::{RunRecord, prompts::PromptRecord};
use tokio::sync::oneshot;

use self::webhook::{Sent, Webhook};
use crate::{
    Runs,
    agent_loop::worker::ClaimKind,
    claimed::Claimed,
    prompt::{Prompt, prompt, reading::Gathered},
};

/// How long a remote agent may take to answer the webhook, including repeats.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// What remote agents need to answer.
#[derive(Clone, Debug)]
pub struct Callbacks {
    /// The key of the tokens.
    pub key: CallbackKey,
    /// The address of the API, without a slash at its end.
    pub api_url: String,
}

/// What a remote agent is sent.
struct WebhookPayload<'a> {
    run: &'a RunRecord,
    gathered: &'a Gathered,
    trigger: &'a Trigger,
    prompt: &'a Prompt,
}

impl Runs {
    /// Hands a claimed run on to its remote agent.
    pub(crate) async fn hand_to_remote(
        &self,
        claimed: Claimed,
        gathered: &Gathered,
        runtime: &Runtime,
    ) -> Result<()> {
        let Claimed { run, lease, kind, .. } = claimed;
        let now = self.pipeline.now();
        let trigger = self.trigger(&run, gathered).await?;
        let Some(prompt) = written(&run, gathered, &trigger, now) else {
            return self.end_early(&run, &lease, RunStatus::Canceled).await;
        };
        let stored = stored(&prompt)?;
        let until = now + runtime.timeout();
        let run = match self
            .pipeline
            .store
            .runs()
            .hand_to_remote(&run, &lease, until, &stored, now)
            .await
        {
            Ok(run) => run,
            Err(Error::LeaseLost) => return Ok(()),
            Err(error) => return Err(error),
        };
        let announcing = async {
            if kind == ClaimKind::First {
                let view = run.view(trigger.clone(), None);
                self.pipeline.announce_run(&run, view, |run| EventKind::RunStarted { run }).await;
            }
        };
        let parcel = WebhookPayload { run: &run, gathered, trigger: &trigger, prompt: &prompt };
        let sending = Box::pin(self.send(parcel, runtime));
        futures::join!(sending, announcing).0
    }

    /// Sends the webhook of a run again, because nobody knows whether it was sent.
    pub(crate) async fn send_again(&self, run: &RunRecord) -> Result<()> {
        let gathered = self.gather(run.to_ref(), oneshot::channel().0).await?;
        let Some(gathered) = gathered.map(|gathered| gathered.joined_by(&run.joined)) else {
            return self.end_remote(run, RunStatus::Canceled, None).await;
        };
        let runtime = gathered.agent.agent.as_ref().and_then(|config| config.runtime.as_ref());
        let Some(runtime) = runtime else {
            let text = "the agent has no runtime any more that could work on the run";
            return self.fail_remote(run, FailureCode::NotConfigured, text).await;
        };
        let trigger = self.trigger(run, &gathered).await?;
        let Some(prompt) = written(run, &gathered, &trigger, self.pipeline.now()) else {
            return Ok(());
        };
        let parcel =
            WebhookPayload { run, gathered: &gathered, trigger: &trigger, prompt: &prompt };
        Box::pin(self.send(parcel, runtime)).await
    }

    /// Fails a run whose remote agent did not complete it in time.
    pub(crate) async fn end_overdue(&self, run: &RunRecord) -> Result<()> {
        let since = run.started_at.unwrap_or(run.created_at);
        let until = run.remote.as_ref().map_or(since, |remote| remote.until);
        let seconds = until.since(since).as_secs();
        let text = format!("the remote agent did not complete the run within {seconds} seconds");
        self.fail_remote(run, FailureCode::Timeout, &text).await
    }

    /// Sends the webhook, and fails the run if the agent refuses it or can't be reached.
    async fn send(&self, parcel: WebhookPayload<'_>, runtime: &Runtime) -> Result<()> {
        let run = parcel.run;
        let Some(remote) = &run.remote else { return Ok(()) };
        let webhook = Webhook {
            pipeline: &self.pipeline,
            callbacks: &self.callbacks,
            egress: &self.egress,
            runtime,
            limit: ANSWER_LIMIT,
        };
        match webhook.send(&parcel, remote, self.pipeline.now()).await {
            Sent::Accepted => self.pipeline.store.runs().note_sent(run.id, remote).await,
            Sent::Failed(code, text) => self.fail_remote(run, code, &text).await,
        }
    }

    async fn fail_remote(&self, run: &RunRecord, code: FailureCode, text: &str) -> Result<()> {
        let error = RunError { code, message: text.to_owned() };
        self.end_remote(run, RunStatus::Failed, Some(error)).await
    }

    /// Ends a run under the lease of its remote agent.
    async fn end_remote(
        &self,
        run: &RunRecord,
        status: RunStatus,
        error: Option<RunError>,
    ) -> Result<()> {
        let Some(remote) = &run.remote else { return Ok(()) };
        self.end(run, &remote.lease, status, error).await
    }
}

/// The prompt that an agent gets. `None` if it is no agent.
fn written(run: &RunRecord, gathered: &Gathered, trigger: &Trigger, now: Time) -> Option<Prompt> {
    let config = gathered.agent.agent.as_ref()?;
    Some(prompt(gathered, config, run.id, trigger, now))
}

fn stored(prompt: &Prompt) -> Result<PromptRecord> {
    let (history, rest) = prompt.rest.cut(&prompt.cuts);
    let record = PromptRecord::new(&prompt.system, &rest, prompt.marks.clone())?;
    Ok(record.with_history(history))
}
