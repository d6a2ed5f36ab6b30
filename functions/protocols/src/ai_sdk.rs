//! `POST /v1/chat` and `GET /v1/chat/{spaceId}/stream`: a space as a chat of the AI SDK, for
//! `useChat`.
//!
//! The chat's id is a space. A request posts the messages that the space does not have yet, or
//! answers forms, and gets the turn that follows as one message of the assistant. A client that
//! lost its stream gets the whole turn again.

mod chunks;
mod input;
mod telling;

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{Path, rejection::PathRejection},
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use smartspace_domain::ids::MessageId;

use crate::{
    api_client::{Refusal, Visitor},
    caller::Me,
    chat::{chunks::Chunk, input::AnsweredForm, telling::Telling},
    conversation::{Conversation, Opening, is_open_form},
    event_stream::respond,
    input::read,
    narration::card_of,
};

/// The header that names the version of the stream.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-vercel-ai-ui-message-stream"), HeaderValue::from_static("v1"));

/// The routes.
pub(crate) fn routes() -> Router {
    Router::new().route("/v1/chat", post(send)).route("/v1/chat/{space}/stream", get(resume))
}

async fn send(
    Extension(visitor): Extension<Visitor>,
    Extension(Me(me)): Extension<Me>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let input: input::Input = read(&body)?;
    let posts = input.posts()?;
    let mut opening = Opening::of(&visitor, me, &input.id).await?;
    for answered in input.answered_forms() {
        match answer_form(&mut opening, &answered).await {
            // What is new must not wait for an answer that cannot be given any longer.
            Err(refusal) if !posts.is_empty() && !refusal.is_passing() => {}
            answered => answered?,
        }
    }
    let mut last = None;
    for post in &posts {
        last = Some(opening.post(post).await?);
    }
    let known = input.response_id();
    let Some(last) = last else {
        let newest = opening.messages().last().map(|message| message.id);
        let response = known.or_else(|| newest.map(response_id));
        let conversation = opening.follow_behind(&input.shown()).await?;
        return Ok(told(conversation, response.unwrap_or_else(|| "rsp_".into())));
    };
    Ok(told(opening.tell_from_start().await?, response_id(last)))
}

/// Gives an answer, unless the form has a result. The turn goes on with its run in any case.
async fn answer_form(opening: &mut Opening, answered: &AnsweredForm<'_>) -> Result<(), Refusal> {
    let card = opening.card(answered.call).await?;
    if let Some(closed) = card.as_ref().filter(|card| !is_open_form(card)) {
        if let Some(run) = closed.run_id {
            opening.follows(run);
        }
        return Ok(());
    }
    let answer = answered.answer(card.as_ref().and_then(card_of))?;
    opening.answer(&answer).await
}

async fn resume(
    Extension(visitor): Extension<Visitor>,
    Extension(Me(me)): Extension<Me>,
    space: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let Ok(Path(space)) = space else { return Err(Refusal::new(404, "there is no such space")) };
    let mut opening = Opening::of(&visitor, me, &space).await?;
    let Some(message) = opening.resume().await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    Ok(told(opening.tell_from_start().await?, response_id(message)))
}

fn told(conversation: Conversation, message_id: String) -> Response {
    let first = vec![Chunk::Start { message_id }, Chunk::StartStep];
    ([VERSION], respond(conversation, Telling::default(), first)).into_response()
}

/// The id of the message that answers `message`.
fn response_id(message: MessageId) -> String {
    format!("rsp_{message}")
}
