//! `POST /v1/agui`: a space as an AG-UI agent, for `HttpAgent`, `CopilotKit` and assistant-ui.
//!
//! A thread is a space. A request posts the messages that the space does not have yet, or answers
//! the forms that it resumes, and gets the turn that follows.

mod events;
mod input;
mod telling;

use axum::{Extension, Router, body::Bytes, response::Response, routing::post};
use serde_json::json;

use crate::{
    agui::{events::Event, telling::Telling},
    api_client::{Refusal, Visitor},
    caller::Me,
    conversation::Opening,
    event_stream::respond,
    input::read,
};

/// The routes.
pub(crate) fn routes() -> Router {
    Router::new().route("/v1/agui", post(run))
}

async fn run(
    Extension(visitor): Extension<Visitor>,
    Extension(Me(me)): Extension<Me>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let input: input::Input = read(&body)?;
    let (posts, resumed) = (input.posts()?, input.answers()?);
    let mut opening = Opening::of(&visitor, me, &input.thread_id).await?;
    for answer in &resumed.answers {
        opening.answer(answer).await?;
    }
    for post in &posts {
        opening.post(post).await?;
    }
    let space = &opening.space;
    let members = space.members.iter();
    let members: Vec<_> = members
        .map(|member| json!({"id": member.id, "name": member.name, "type": member.kind}))
        .collect();
    let state = json!({
        "space": {"id": space.id, "name": space.settings.name},
        "members": members,
    });
    let mut telling = Telling::new(input.thread_id, input.run_id, resumed.left_open);
    let protocol_version = input.protocol_version.map(|_| "1.0");
    let mut first =
        vec![telling.started(protocol_version), Event::StateSnapshot { snapshot: state }];
    first.push(telling.snapshot_of(opening.messages()));
    let conversation = opening.follow().await?;
    Ok(respond(conversation, telling, first))
}
