//! `POST /v1/chat` and `GET /v1/chat/{spaceId}/stream`: a space as a chat of the AI SDK, for
//! `useChat`.
//!
//! The chat's id is a space. A request posts the messages that the space does not have yet, or
//! answers forms, and is told the turn that follows as one message of the assistant. A client that
//! lost its stream is told the whole turn again.

mod chunks;
mod input;
mod telling;

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path},
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use smartspace_domain::ids::MessageId;

use crate::{
    api_client::{Refusal, Visitor},
    caller::Me,
    chat::{chunks::Chunk, telling::Telling},
    conversation::{Conversation, Opening},
    event_stream::respond,
    input::{REQUEST_BYTES, read},
};

/// The header that names the version of the stream.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-vercel-ai-ui-message-stream"), HeaderValue::from_static("v1"));

/// The routes.
pub(crate) fn routes() -> Router {
    Router::new()
        .route("/v1/chat", post(send).layer(DefaultBodyLimit::max(REQUEST_BYTES)))
        .route("/v1/chat/{space}/stream", get(resume))
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
        let call = answered.call;
        if let Some(answer) = answered.answer(opening.messages())? {
            opening.answer(&answer, true).await?;
        }
        tracing::debug!(%call, "a form was answered through a chat");
    }
    let mut last = None;
    for post in &posts {
        last = Some(opening.post(post).await?);
    }
    let known = input.response_id();
    let Some(last) = last else {
        let newest = opening.messages().last().map(|message| message.id);
        let response = known.or_else(|| newest.map(response_id));
        let conversation = opening.follow(Some(&input.known_calls())).await?;
        return Ok(told(conversation, response.unwrap_or_else(|| "rsp_".into())));
    };
    Ok(told(opening.tell_from_start().await?, response_id(last)))
}

async fn resume(
    Extension(visitor): Extension<Visitor>,
    Extension(Me(me)): Extension<Me>,
    Path(space): Path<String>,
) -> Result<Response, Refusal> {
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
