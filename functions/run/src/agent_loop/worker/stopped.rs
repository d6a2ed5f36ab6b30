//! Keeps what a run had shown when it was canceled.
//!
//! The run is over, and its worker no longer holds a lease. But members have seen a part of the
//! answer, and it must not vanish: it becomes a message that is marked as partial and triggers
//! nobody. Only the run's last worker may store it: nobody has claimed the run since.

use serde_json::Value;
use smartspace_domain::{
    Error,
    events::StreamEnd,
    ids::MessageId,
    json,
    messages::{MessageText, Origin},
    steps::CallStatus,
};
use smartspace_store::messages::append::{
    ByRun, Content, MessageSource, NewCard, NewMessage, Right,
};
use tokio::time::sleep;

use crate::{agent_loop::worker::Worker, streaming::StreamInfo, tools::configured::target::TARGET};

/// How often a message is tried again that its space has no room for in this second.
const TRIES: usize = 3;

impl Worker {
    /// Stores what the model had written when the run was canceled.
    pub(super) async fn keep_shown(&self, reason: StreamEnd) {
        let context = &self.context;
        if let Some(step) = context.unfinished.take() {
            let claims = context.run.claims;
            let steps = context.store().steps();
            match steps.store_partial(context.run.id, claims, &step, context.now()).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(run = %context.run.id, %error, "a partial answer is not stored");
                }
            }
        }
        for (info, text) in context.streams.shown() {
            if let Some(message) = self.post_partial(&info, text).await {
                context.streams.end_stopped(info.call, message, reason);
            }
        }
    }

    /// Posts what a stream has shown. Returns the message, if there is one.
    async fn post_partial(&self, info: &StreamInfo, text: String) -> Option<MessageId> {
        let context = &self.context;
        let new = NewMessage {
            id: MessageId::of_call(info.call),
            space: info.space,
            sender: info.agent,
            content: content(info, text)?,
            by: MessageSource::Run(Box::new(ByRun {
                run: info.run,
                depth: context.run.chain_depth + 1,
                origin: Origin {
                    trigger: context.trigger.clone().in_short(),
                    tools_used: Vec::new(),
                },
                stream: info.stream,
                right: Right::Stopped { claims: context.run.claims },
            })),
        };
        for _ in 0..TRIES {
            match context.pipeline.post(&new).await {
                Ok(_) => return Some(new.id),
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
        None
    }
}

/// The text of a message, or the input of a visible call as far as the model wrote it.
fn content(info: &StreamInfo, text: String) -> Option<Content> {
    let Some(name) = info.tool.clone() else {
        return text.parse::<MessageText>().ok().map(Content::Text);
    };
    let mut input = json::parse(&text).unwrap_or(Value::String(text));
    if let Some(fields) = input.as_object_mut() {
        fields.shift_remove(TARGET);
    }
    let status = CallStatus::Canceled;
    let card = NewCard { call_id: info.call, name, input, output: None, status, asks: None };
    Some(Content::Card(Box::new(card)))
}
