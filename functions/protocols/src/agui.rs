//! `POST /v1/agui`: a space as an AG-UI agent, for `HttpAgent`, `CopilotKit` and assistant-ui.
//!
//! A thread is a space. A request posts the messages that the space does not have yet, answers the
//! forms that it resumes, or brings the results of tools that the client's page has run. The
//! response is the turn that follows.

mod encoder;
mod page;
mod request;
mod types;

use axum::{Extension, Router, body::Bytes, response::Response, routing::post};
use serde_json::json;
use smartspace_client::Session as ApiSession;

use crate::{
    agui::{
        encoder::{AgUiEncoder, Client},
        page::with_client_state,
        request::RunInput,
        types::Event,
    },
    auth::CallerId,
    body::parse_object,
    problems::ProblemResponse,
    sse::respond,
    turn::TurnSetup,
};

pub(crate) fn routes() -> Router {
    Router::new().route("/v1/agui", post(run))
}

async fn run(
    Extension(api): Extension<ApiSession>,
    Extension(CallerId(caller)): Extension<CallerId>,
    body: Bytes,
) -> Result<Response, ProblemResponse> {
    let input: RunInput = parse_object(&body)?;
    // Both are read before anything is posted, so that a bad request has no effect.
    let posts = input.posts()?;
    let resumed = input.resumed_forms()?;
    let results = input.page_results();
    let mut setup = TurnSetup::open(&api, caller, &input.thread_id).await?;
    for answer in &resumed.answers {
        setup.answer(answer).await?;
    }
    for result in &results {
        setup.answer_page_call(result).await?;
    }
    for post in &posts {
        setup.post(post).await?;
    }
    let space = &setup.space;
    let members = space.members.iter();
    let members: Vec<_> = members
        .map(|member| json!({"id": member.id, "name": member.name, "type": member.kind}))
        .collect();
    let state = json!({
        "space": {"id": space.id, "name": space.settings.name},
        "members": members,
    });
    let state = with_client_state(state, &input.state);
    let page_tools = input.tool_names();
    let client = Client { member: caller, page_tools, left_open: resumed.left_open };
    let mut encoder = AgUiEncoder::new(input.thread_id, input.run_id, client);
    let protocol_version = input.protocol_version.map(|_| "1.0");
    let first = vec![
        encoder.started(protocol_version),
        Event::StateSnapshot { snapshot: state },
        encoder.snapshot_of(setup.messages()),
    ];
    let turn = setup.follow().await?;
    Ok(respond(turn, encoder, first))
}
