//! Stores what a run had shown when it was canceled.
//!
//! The run is over, and its worker no longer holds a lease. But members have seen a part of the
//! answer, and it must not vanish: it becomes a message that is marked as partial and triggers
//! nobody. Only the run's last worker may store it: nobody has claimed the run since.

use std::time::Duration;

use serde_json::Value;
use smartspace_domain::{
    Error,
    events::StreamEnd,
    ids::MessageId,
    messages::{MessageText, Origin},
    steps::CallStatus,
};
use smartspace_store::messages::append::{
    Authority, Content, MessageSource, NewCard, NewMessage, RunSender,
};
use tokio::time::sleep;

use crate::{
    agent_loop::worker::{Worker, lease::stop_requested},
    prompt::run_activity::RunActivity,
    streaming::{CallPosition, StreamInfo},
};

/// How long storing may take. Clients wait five seconds for the message of a text that they have
/// shown.
const STORE_TIMEOUT: Duration = Duration::from_secs(4);
/// The same limit if the process stops. The process itself has two seconds.
const STORE_TIMEOUT_WHEN_STOPPING: Duration = Duration::from_millis(800);

impl Worker {
    /// Stores what the model had written when the run was canceled.
    pub(super) async fn store_shown(&self, reason: StreamEnd) {
        let too_late = async {
            tokio::select! {
                () = sleep(STORE_TIMEOUT) => {}
                () = stop_requested(self.stopping.clone()) => {
                    sleep(STORE_TIMEOUT_WHEN_STOPPING).await;
                }
            }
        };
        tokio::select! {
            biased;
            () = self.store_all(reason) => {}
            () = too_late => {
                let run = self.context.run.id;
                tracing::warn!(%run, "what a canceled run had shown was not stored in time");
            }
        }
    }

    async fn store_all(&self, reason: StreamEnd) {
        let context = &self.context;
        if let Some(step) = context.unstored_answer.take() {
            let claims = context.run.claims;
            let steps = context.store().steps();
            match steps.store_partial(context.run.id, claims, &step, context.now()).await {
                Ok(true) => context.show_stopped(&step),
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(run = %context.run.id, %error, "a partial answer is not stored");
                }
            }
        }
        let shown = context.streams.shown_texts();
        if shown.is_empty() {
            return;
        }
        let activity = RunActivity::of(context.store(), context.run.id).await;
        let tools_used = activity.map(|activity| activity.tools_used).unwrap_or_default();
        for (info, text) in shown {
            if let Some(message) = self.post_partial(&info, text, tools_used.clone()).await {
                context.streams.end_stopped(info.call, message, reason);
            }
        }
    }

    /// Posts what a stream has shown. Returns the message, if there is one.
    async fn post_partial(
        &self,
        info: &StreamInfo,
        text: String,
        tools_used: Vec<String>,
    ) -> Option<MessageId> {
        let context = &self.context;
        let CallPosition { step, index } = info.position;
        let authority =
            Authority::Stopped { claims: context.run.claims, call_position: (step, index) };
        let reply_to = context.run.triggered_by.parent_in(info.space, None);
        let new = NewMessage {
            id: MessageId::of_call(info.call),
            space: info.space,
            sender: info.agent,
            content: content(info, text)?,
            files: Vec::new(),
            reply_to: reply_to.filter(|_| info.tool.is_none()),
            by: MessageSource::Run(Box::new(RunSender {
                run: info.run,
                depth: context.run.chain_depth + 1,
                chain: context.run.chain_id(),
                origin: Origin { trigger: context.trigger.clone().in_short(), tools_used },
                stream: info.stream,
                is_cut: false,
                authority,
            })),
        };
        loop {
            match context.pipeline.post(&new).await {
                // The call was made just before the run was canceled: its message is whole.
                Ok(_) | Err(Error::Conflict(_)) => return Some(new.id),
                Err(Error::TooMany { wait, .. }) => sleep(wait).await,
                // Another worker had the run, or the agent or the space is gone.
                Err(Error::LeaseLost | Error::NotAMember | Error::NotFound(_)) => return None,
                Err(error) => {
                    let run = info.run;
                    tracing::warn!(%run, %error, "what a canceled run had shown is not stored");
                    return None;
                }
            }
        }
    }
}

/// The text of a message, or the input of a visible call as the model wrote it.
fn content(info: &StreamInfo, text: String) -> Option<Content> {
    let Some(name) = info.tool.clone() else {
        return text.parse::<MessageText>().ok().map(Content::Text);
    };
    let input = Value::String(text);
    let status = CallStatus::Canceled;
    let card =
        NewCard { call_id: info.call, name, title: None, input, output: None, status, asks: None };
    Some(Content::Card(Box::new(card)))
}
