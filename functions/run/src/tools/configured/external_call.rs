//! External calls. Only the called server knows whether a call took effect, so the beginning of a
//! call is stored, too.
//!
//! First the beginning of a call is stored, with its card if it is visible. Then the call is made,
//! and its result is stored. A worker that takes over the run in between finds the beginning.
//! It repeats a repeatable call with the same key. For any other call it stores that the outcome is
//! unknown, and the model reads that.

mod awaiting;

use std::{convert::Infallible, future::pending};

use serde_json::Value;
use smartspace_domain::{Result, ids::SpaceId, messages::excerpt, steps::CallStatus};
use smartspace_egress::{Outgoing, http_tool};
use smartspace_models::port::ImageRequest;
use smartspace_store::runs::{cards::CardRef, steps::CallRecord};
use tokio::{
    sync::watch,
    time::{Duration, Instant, sleep_until},
};

use crate::counters::Counted;
use crate::tools::{
    calling::{Calling, Outcome},
    configured::{
        call_response::CallResponse,
        card::CardOutcome,
        external_call::awaiting::Next,
        image,
        mcp::{self, Called, McpTool},
    },
    tool::StartedCall,
};

/// The shortest time between two progress texts of a server.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How much of a progress text is shown, in characters.
const PROGRESS_CHARS: usize = 500;

/// How much of an error is logged, in characters.
const LOGGED_CHARS: usize = 200;

/// A request that is ready to be sent.
pub(crate) enum Request<'a> {
    Http(Box<Outgoing>),
    Mcp(&'a McpTool, Value),
    Image(ImageRequest),
}

/// A call whose beginning is stored.
struct UnderWay<'a> {
    calling: &'a Calling<'a>,
    request: Request<'a>,
    card: Option<CardRef>,
    /// How far the run has read the space of its card, if it posted the card.
    read_up_to: Option<(SpaceId, u64)>,
    counted: Counted,
}

/// Begins a call, or repeats one that another worker began. If the call is visible, `visible` is
/// the space of its card and the input that the card shows.
pub(crate) async fn begin<'a>(
    calling: &'a Calling<'a>,
    request: Request<'a>,
    visible: Option<(SpaceId, Value)>,
) -> Result<StartedCall<'a>> {
    let counted = Counted::new(calling.context.external_calls.clone());
    if let Some(known) = calling.under_way {
        return Ok(
            UnderWay { calling, request, card: known.card, read_up_to: None, counted }.started()
        );
    }
    let open = Outcome {
        status: CallStatus::Pending,
        is_external: true,
        ..Outcome::completed(Value::Null)
    };
    // An approved call has its card already, which the result finishes.
    let asked = calling.approved.map(|approved| approved.card);
    let (card, read_up_to) = match visible {
        _ if let Some(card) = asked => {
            calling.store_outcome(&open).await?;
            (card, None)
        }
        None => {
            calling.store_outcome(&open).await?;
            (None, None)
        }
        Some((space, input)) => match calling.post_card(space, input, open, None).await? {
            CardOutcome::Posted(_, outcome) => {
                // The card now shows the input that was streamed.
                calling.context.streams.end(calling.begun.call_id, outcome.message);
                (outcome.card, outcome.read_up_to)
            }
            CardOutcome::Refused(outcome) => return Ok(StartedCall::Done(outcome)),
        },
    };
    Ok(UnderWay { calling, request, card, read_up_to, counted }.started())
}

impl<'a> UnderWay<'a> {
    fn started(self) -> StartedCall<'a> {
        StartedCall::UnderWay(Box::pin(self.end()))
    }

    /// Makes the call and stores its outcome.
    async fn end(self) -> Result<Outcome> {
        let Self { calling, request, card, read_up_to, counted } = self;
        let context = calling.context;
        let space = card.map(|card| card.space).or(calling.active_space);
        let response = match request {
            Request::Image(request) => image::draw(calling, request, space).await,
            Request::Http(outgoing) => http_tool::send(&context.egress, *outgoing).await.into(),
            Request::Mcp(tool, input) => Box::pin(call_server(calling, tool, &input, card)).await?,
        };
        // The call is stored as one that goes on when people have answered.
        if response.outcome.awaits.is_some() {
            return Ok(response.outcome);
        }
        let outcome = response.store_pictures(calling, card.map(|card| card.space)).await;
        if outcome.status == CallStatus::Failed {
            let error =
                excerpt(outcome.output["error"].as_str().unwrap_or_default(), LOGGED_CHARS).0;
            // Quoted, since a part of the text may come from the server.
            let tool = &calling.begun.name;
            tracing::info!(run = %context.run.id, tool, ?error, "an external call failed");
        }
        let settled = settle(calling, outcome, card, read_up_to).await;
        drop(counted);
        settled
    }
}

/// Calls an MCP server. If the server asks for an input, the outcome says what the call waits for.
async fn call_server(
    calling: &Calling<'_>,
    tool: &McpTool,
    input: &Value,
    card: Option<CardRef>,
) -> Result<CallResponse> {
    let answers = match awaiting::go_on(calling, tool.server(), card).await? {
        Next::Send(answers) => answers,
        Next::Over(outcome) => return Ok((*outcome).into()),
    };
    let progress = watch::Sender::new(String::new());
    let texts = progress.subscribe();
    let called = mcp::call(tool, input, calling.begun.call_id, answers.as_ref(), &progress);
    let called = tokio::select! {
        biased;
        called = called => called,
        never = show_progress(calling, card, texts) => match never {},
    };
    match called {
        Called::Response(response) => Ok(*response),
        Called::NeedsInput(required) => {
            awaiting::begin(calling, tool.server(), card, required).await.map(CallResponse::from)
        }
    }
}

/// Stores an unknown outcome for a call that another worker began.
pub(crate) async fn store_unknown(calling: &Calling<'_>, known: &CallRecord) -> Result<Outcome> {
    let text = "this call had begun when the process that made it died. Whether it took effect is \
                not known, and it was not repeated. Look whether it did before you call it again";
    let mut outcome = Outcome { status: CallStatus::Unknown, ..Outcome::error(text) };
    if known.awaits.is_some() {
        outcome = Box::pin(awaiting::give_up(calling, known.card, outcome)).await?;
    }
    settle(calling, outcome, known.card, None).await
}

/// Stores a result, shows it on the card of the call, and notifies the followers of the space.
async fn settle(
    calling: &Calling<'_>,
    outcome: Outcome,
    card: Option<CardRef>,
    read_up_to: Option<(SpaceId, u64)>,
) -> Result<Outcome> {
    let shown_in = card.map(|card| card.space).filter(|_| calling.context.run.space_id().is_none());
    let outcome = Outcome { is_external: true, card, read_up_to, shown_in, ..outcome };
    calling.store_outcome(&outcome).await?;
    if let Some(card) = &card {
        calling.context.pipeline.announce_card(card).await;
    }
    Ok(Outcome { is_stored: true, ..outcome })
}

/// Shows the progress texts of a server until the call ends and this future is dropped.
async fn show_progress(
    calling: &Calling<'_>,
    card: Option<CardRef>,
    mut texts: watch::Receiver<String>,
) -> Infallible {
    let Some(card) = card else { return pending().await };
    let context = calling.context;
    loop {
        if texts.changed().await.is_err() {
            return pending().await;
        }
        let next = Instant::now() + PROGRESS_INTERVAL;
        let text = excerpt(&texts.borrow_and_update(), PROGRESS_CHARS).0.to_owned();
        let shown = {
            let _writing = context.writing.lock().await;
            context
                .store()
                .calls()
                .show_progress(&context.run, &context.lease, &card, &text, context.now())
                .await
        };
        match shown {
            Ok(true) => {
                context.pipeline.announce_card(&card).await;
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(run = %context.run.id, %error, "a call's progress is not shown");
            }
        }
        sleep_until(next).await;
    }
}
