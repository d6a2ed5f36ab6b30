//! `POST /v1/chat` and `GET /v1/chat/{spaceId}/stream`: a space as a chat of the AI SDK, for
//! `useChat`.
//!
//! The chat's id is a space. A request posts the messages that the space does not have yet, or
//! answers forms. The response is the turn that follows, as one message of the assistant. A client
//! that lost its stream gets the whole turn again.

mod encoder;
mod request;
mod types;

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{Path, rejection::PathRejection},
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use smartspace_client::{Refusal, Session as ApiSession};
use smartspace_domain::ids::MessageId;

use crate::{
    ai_sdk::{
        encoder::UiMessageEncoder,
        request::{AnsweredForm, ChatRequest},
        types::Chunk,
    },
    auth::CallerId,
    body::parse_object,
    problems::ProblemResponse,
    sse::respond,
    turn::{TurnSession, TurnSetup, card_of, is_open_form},
};

/// The header with the version of the stream.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-vercel-ai-ui-message-stream"), HeaderValue::from_static("v1"));

/// The routes of the AI SDK.
pub(crate) fn routes() -> Router {
    Router::new().route("/v1/chat", post(send)).route("/v1/chat/{space}/stream", get(resume))
}

async fn send(
    Extension(api): Extension<ApiSession>,
    Extension(CallerId(caller)): Extension<CallerId>,
    body: Bytes,
) -> Result<Response, ProblemResponse> {
    let request: ChatRequest = parse_object(&body)?;
    let posts = request.posts()?;
    let mut setup = TurnSetup::open(&api, caller, &request.id).await?;
    for answered in request.answered_forms() {
        match answer_form(&mut setup, &answered).await {
            // Clients send the whole conversation each time, so an answer that was refused comes
            // again with every new message. It must not block these.
            Err(refusal) if !posts.is_empty() && !refusal.is_temporary() => {}
            answered => answered?,
        }
    }
    let mut last = None;
    for post in &posts {
        last = Some(setup.post(post).await?);
    }
    let known = request.response_id();
    let Some(last) = last else {
        let newest = setup.messages().last().map(|message| message.id);
        let response = known.or_else(|| newest.map(response_id));
        let turn = setup.resume_after(&request.client_view()).await?;
        return Ok(stream(turn, response.unwrap_or_else(|| "rsp_".into())));
    };
    Ok(stream(setup.replay().await?, response_id(last)))
}

/// Answers a form, unless it has a result already. Either way the turn includes its run.
async fn answer_form(setup: &mut TurnSetup, answered: &AnsweredForm<'_>) -> Result<(), Refusal> {
    let card = setup.card(answered.call).await?;
    if let Some(closed) = card.as_ref().filter(|card| !is_open_form(card)) {
        if let Some(run) = closed.run_id {
            setup.add_run(run);
        }
        return Ok(());
    }
    let answer = answered.answer(card.as_ref().and_then(card_of))?;
    setup.answer(&answer).await
}

async fn resume(
    Extension(api): Extension<ApiSession>,
    Extension(CallerId(caller)): Extension<CallerId>,
    space: Result<Path<String>, PathRejection>,
) -> Result<Response, ProblemResponse> {
    let Ok(Path(space)) = space else {
        return Err(Refusal::new(404, "there is no such space").into());
    };
    let mut setup = TurnSetup::open(&api, caller, &space).await?;
    let Some(message) = setup.start_with_active_run().await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    Ok(stream(setup.replay().await?, response_id(message)))
}

fn stream(turn: TurnSession, message_id: String) -> Response {
    let first = vec![Chunk::Start { message_id }, Chunk::StartStep];
    ([VERSION], respond(turn, UiMessageEncoder::default(), first)).into_response()
}

/// The id of the response to `message`. It is derived, so that a client which resumes a stream
/// replaces the message that it has begun.
fn response_id(message: MessageId) -> String {
    format!("rsp_{message}")
}
