//! Calls that reach outside: to be known at their beginning, since nobody else can tell whether they took effect.
//!
//! That a call has begun is kept, with its card where it is shown; then it is made, and its result kept. Who takes the run over in between finds it begun:
//! a tool that may be repeated is called again with the same key, of another one the model is told that nobody knows.

use std::{convert::Infallible, future::pending};

use serde_json::Value;
use smartspace_domain::{Result, ids::SpaceId, messages::excerpt, steps::CallStatus};
use smartspace_egress::{Outgoing, SendError};
use smartspace_store::{cards::CardPlace, steps::CallRecord};
use tokio::{
    sync::watch,
    time::{Duration, Instant, sleep_until},
};

use super::{
    Begun, Calling, Outcome,
    card::Posted,
    http,
    mcp::{self, McpTool},
};
use crate::counted::Counted;

/// How often what a server says while it works is shown, at most.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// What of it is shown, in characters.
const PROGRESS_CHARS: usize = 500;

/// What of an error is logged, in characters.
const LOGGED_CHARS: usize = 200;

/// A request that is ready to be sent.
pub(super) enum Request<'a> {
    Http(Box<Outgoing>),
    Mcp(&'a McpTool, Value),
}

/// A call that has begun: that it has is kept.
pub(crate) struct UnderWay<'a> {
    calling: &'a Calling<'a>,
    request: Request<'a>,
    /// What it is shown by, and what its agent has read with that.
    card: Option<CardPlace>,
    mark: Option<(SpaceId, u64)>,
    counted: Counted,
}

/// Begins a call, or goes on with one that another worker began. A visible one is shown in a space, with its input.
pub(super) async fn begin<'a>(calling: &'a Calling<'a>, request: Request<'a>, visible: Option<(SpaceId, Value)>) -> Result<Begun<'a>> {
    let counted = Counted::new(calling.worker.outside.clone());
    if let Some(known) = calling.under_way {
        return Ok(Begun::UnderWay(UnderWay { calling, request, card: known.card, mark: None, counted }));
    }
    let open = Outcome { status: CallStatus::Pending, outside: true, ..Outcome::completed(Value::Null) };
    let (card, mark) = match visible {
        None => {
            calling.keep(&open).await?;
            (None, None)
        }
        Some((space, input)) => match calling.post_card(space, input, open, None).await? {
            Posted::Yes(_, outcome) => {
                // What was written of its input is on the card now.
                calling.worker.streams.end(calling.begun.call_id, outcome.message);
                (outcome.card, outcome.mark)
            }
            Posted::No(outcome) => return Ok(Begun::Done(outcome)),
        },
    };
    Ok(Begun::UnderWay(UnderWay { calling, request, card, mark, counted }))
}

impl UnderWay<'_> {
    /// Makes the call and keeps what came of it.
    pub(crate) async fn end(self) -> Result<Outcome> {
        let Self { calling, request, card, mark, counted } = self;
        let worker = calling.worker;
        let outcome = match request {
            Request::Http(outgoing) => http::outcome(&worker.egress, *outgoing).await,
            Request::Mcp(tool, input) => {
                let progress = watch::Sender::new(String::new());
                let telling = progress.subscribe();
                let called = mcp::outcome(tool, &input, calling.begun.call_id, &progress);
                tokio::select! {
                    biased;
                    outcome = called => outcome,
                    never = show_progress(calling, card, telling) => match never {},
                }
            }
        };
        if outcome.status == CallStatus::Failed {
            let error = excerpt(outcome.output["error"].as_str().unwrap_or_default(), LOGGED_CHARS).0;
            // As a quoted text: some of it may be the server's.
            tracing::info!(run = %worker.run.id, tool = calling.begun.name, ?error, "a call outside failed");
        }
        let settled = settle(calling, outcome, card, mark).await;
        drop(counted);
        settled
    }
}

/// What the model is told of a call that began when nobody can tell what became of it.
pub(super) async fn unknown(calling: &Calling<'_>, known: &CallRecord) -> Result<Outcome> {
    let text = "this call had begun when the process that made it died. Whether it took effect is not known, and it was not repeated. \
                Look whether it did before you call it again";
    let outcome = Outcome { status: CallStatus::Unknown, ..Outcome::error(text) };
    settle(calling, outcome, known.card, None).await
}

/// Keeps a result, shows it on the call's card, and tells who follows.
async fn settle(calling: &Calling<'_>, outcome: Outcome, card: Option<CardPlace>, mark: Option<(SpaceId, u64)>) -> Result<Outcome> {
    let outcome = Outcome { outside: true, card, mark, ..outcome };
    calling.keep(&outcome).await?;
    if let Some(card) = &card {
        calling.worker.pipeline.tell_card(card).await;
    }
    Ok(Outcome { kept: true, ..outcome })
}

/// What came of a request that was not answered.
pub(super) fn unanswered(error: &SendError) -> Outcome {
    Outcome::error(error.to_string())
}

/// Shows what a server says while it works, for as long as this is waited for.
async fn show_progress(calling: &Calling<'_>, card: Option<CardPlace>, mut said: watch::Receiver<String>) -> Infallible {
    let Some(card) = card else { return pending().await };
    let worker = calling.worker;
    loop {
        if said.changed().await.is_err() {
            return pending().await;
        }
        let next = Instant::now() + PROGRESS_EVERY;
        let text = excerpt(&said.borrow_and_update(), PROGRESS_CHARS).0.to_owned();
        let shown = {
            let _writing = worker.writing.lock().await;
            worker.pipeline.store.show_progress(&worker.run, &worker.lease, &card, &text, worker.pipeline.now()).await
        };
        match shown {
            Ok(true) => {
                worker.pipeline.tell_card(&card).await;
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(run = %worker.run.id, %error, "a call's progress is not shown"),
        }
        sleep_until(next).await;
    }
}
