//! The callbacks of remote agents: they answer a run with the token that its webhook carried.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error, Result,
    access::Caller,
    ids::{AttachmentId, RunId, SpaceId, StreamId},
    limits::{REASON_CHARS, STREAM_BYTES, STREAM_KEY_CHARS},
    messages::Message,
    runs::{ReportedUsage, Run},
    schemas,
};
use smartspace_pipeline::remote::{RemoteEnd, RemoteMessage, RemoteText};
use smartspace_store::messages::append::Content;
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created},
    auth::RemoteAgent,
    description::RequiredIdempotencyKey,
    input::Body,
    routes::{
        messages::message_text,
        reactions::{ReactionsResponse, change, reacts},
    },
};

pub(super) fn routes() -> Routes {
    routes![post_message, react, stream, complete]
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RemoteMessageBody {
    /// May be left out if the message has files.
    #[serde(default)]
    #[schema(schema_with = message_text, required = false)]
    text: String,
    /// The message's files, each once. They must be ready and belong to the message's space.
    #[serde(default)]
    #[schema(max_items = 10)]
    attachments: Vec<AttachmentId>,
    /// The `streamKey` of the text that the message replaces.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 128)]
    stream_key: Option<String>,
    /// The space of the message, in which the agent must be a member. The default is the space that
    /// triggered the run; a run that a plan or a service triggered has none.
    #[serde(default)]
    space_id: Option<SpaceId>,
    /// The `seq` of the message to which it replies, or 0 for none. The default is the message that
    /// triggered the run, if that is a person's reply in the space of the message.
    #[serde(default)]
    reply_to: Option<u64>,
}

/// Post a message of a remote agent
///
/// At most 100 in a run. Repeated with the same key, it answers with the same message, even after
/// the run has ended.
#[utoipa::path(
    post, path = "/v1/runs/{id}/messages", operation_id = "postRemoteMessage",
    tag = "remote agents", security(("callbackToken" = [])),
    params(("id" = RunId, Path), RequiredIdempotencyKey),
    request_body = RemoteMessageBody,
    responses(
        (status = 201, body = Message),
        (status = 409, description = "The run has ended, or its time is up. The agent should \
            stop."),
        (status = 422, description = "The body does not fit, the agent is not a member of the \
            space, the space does not have a file, another message has the same `streamKey`, the \
            run has posted 100 messages, or the key was used before with another body."),
    )
)]
async fn post_message(
    State(api): State<Arc<Api>>,
    RemoteAgent(run): RemoteAgent,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<Message>> {
    let agent = Caller::Entity(run.agent_id);
    let key = body.key(&headers, agent, &format!("/v1/runs/{}/messages", run.id))?;
    let key = key.ok_or_else(|| {
        Error::Malformed(
            "Idempotency-Key: required, so that a repeated message is posted once".into(),
        )
    })?;
    let RemoteMessageBody { text, attachments, stream_key, space_id, reply_to } = body.read()?;
    let content = Content::of(text, !attachments.is_empty())?;
    if let Some(key) = &stream_key {
        check_stream_key(key)?;
    }
    let new =
        RemoteMessage { content, files: attachments, space: space_id, stream_key, reply_to, key };
    let made = api.pipeline.post_for_remote(&run, &new).await?;
    let path = format!("/v1/spaces/{}/messages", made.space_id);
    Ok(Created { location: format!("{path}?after={}&limit=1", made.seq - 1), made })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RemoteReactionBody {
    /// The message's position in the space.
    #[schema(schema_with = schemas::seq)]
    seq: u64,
    /// One emoji. Forms with and without U+FE0F are the same emoji.
    #[serde(default)]
    #[schema(example = "👍", required)]
    emoji: String,
    /// False takes the reaction back.
    #[serde(default = "reacts")]
    #[schema(default = reacts)]
    on: bool,
    /// The space of the message. The default is as for messages.
    #[serde(default)]
    space_id: Option<SpaceId>,
}

/// React to a message as a remote agent
///
/// A reaction wakes no agent, and counts as an answer. The call may be repeated.
#[utoipa::path(
    post, path = "/v1/runs/{id}/reactions", operation_id = "reactAsRemoteAgent",
    tag = "remote agents", security(("callbackToken" = [])),
    params(("id" = RunId, Path)),
    request_body = RemoteReactionBody,
    responses(
        (status = 200, body = ReactionsResponse),
        (status = 409, description = "The run has ended, or its time is up; or the message was \
            deleted, or takes no further reaction."),
    )
)]
async fn react(
    State(api): State<Arc<Api>>,
    RemoteAgent(run): RemoteAgent,
    body: Body,
) -> ApiResult<Json<ReactionsResponse>> {
    let RemoteReactionBody { seq, emoji, on, space_id } = body.read()?;
    let change = change(seq, &emoji, on)?;
    Ok(Json(api.pipeline.react_for_remote(&run, space_id, change).await?.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RemoteTextBody {
    /// Names the text within the run. The message that replaces it has the same key.
    #[schema(min_length = 1, max_length = 128)]
    stream_key: String,
    /// The position of `text` in the whole text, in UTF-16 code units.
    #[schema(maximum = 32_768)]
    offset: usize,
    /// The next piece; or all of the text so far, if it is a snapshot.
    #[schema(max_length = 32_768)]
    text: String,
    /// True if `text` is all of the text so far. Then `offset` is 0.
    #[serde(default)]
    #[schema(default = false)]
    snapshot: bool,
    /// The space of the message. The default is as for messages.
    #[serde(default)]
    space_id: Option<SpaceId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StreamedResponse {
    stream_id: StreamId,
}

/// Show what a remote agent is writing
///
/// At most 5 times a second, and at least once a second as a snapshot, because nothing is stored
/// and frames may get lost. A message with the same `streamKey` replaces the text.
#[utoipa::path(
    post, path = "/v1/runs/{id}/stream", operation_id = "streamRemoteText",
    tag = "remote agents", security(("callbackToken" = [])),
    params(("id" = RunId, Path)),
    request_body = RemoteTextBody,
    responses(
        (status = 202, body = StreamedResponse),
        (status = 409, description = "The run has ended, or its time is up. The agent should \
            stop."),
        (status = 429, description = "More than 5 calls in a second."),
    )
)]
async fn stream(
    State(api): State<Arc<Api>>,
    RemoteAgent(run): RemoteAgent,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let RemoteTextBody { stream_key, offset, text, snapshot, space_id } = body.read()?;
    check_stream_key(&stream_key)?;
    no_nul(Some(&text), "/text")?;
    if snapshot && offset > 0 {
        return Err(Error::invalid("/offset", "expected 0: a snapshot is the whole text").into());
    }
    if offset.saturating_add(text.encode_utf16().count()) > STREAM_BYTES {
        let detail = format!("expected at most {STREAM_BYTES} UTF-16 code units in all");
        return Err(Error::invalid("/text", detail).into());
    }
    let new = RemoteText { stream_key, space: space_id, offset, text, is_snapshot: snapshot };
    let stream_id = api.pipeline.stream_for_remote(&run, &new).await?;
    Ok((StatusCode::ACCEPTED, Json(StreamedResponse { stream_id })))
}

/// How a run of a remote agent ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "snake_case")]
enum RemoteStatus {
    /// It has done what it wanted to.
    Completed,
    /// It has failed.
    Failed,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RemoteEndBody {
    #[schema(inline)]
    status: RemoteStatus,
    /// Why it failed, or why it has posted nothing. Members of the space see it.
    #[serde(default)]
    #[schema(max_length = 1_000)]
    reason: Option<String>,
    /// What the agent has used. It is shown with the run, and no budget counts it.
    #[serde(default)]
    usage: Option<ReportedUsage>,
}

/// Complete a run of a remote agent
///
/// Repeated, it answers with the same run.
#[utoipa::path(
    post, path = "/v1/runs/{id}/complete", operation_id = "completeRemoteRun",
    tag = "remote agents", security(("callbackToken" = [])),
    params(("id" = RunId, Path)),
    request_body = RemoteEndBody,
    responses(
        (status = 200, body = Run),
        (status = 409, description = "The run has ended otherwise, or its time is up."),
    )
)]
async fn complete(
    State(api): State<Arc<Api>>,
    RemoteAgent(run): RemoteAgent,
    body: Body,
) -> ApiResult<Json<Run>> {
    let RemoteEndBody { status, reason, usage } = body.read()?;
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > REASON_CHARS) {
        let detail = format!("expected at most {REASON_CHARS} characters");
        return Err(Error::invalid("/reason", detail).into());
    }
    if usage.and_then(|usage| usage.cost).is_some_and(|cost| cost < 0.0) {
        return Err(Error::invalid("/usage/cost", "expected dollars, 0 or more").into());
    }
    no_nul(reason.as_deref(), "/reason")?;
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    let end = RemoteEnd { is_failed: status == RemoteStatus::Failed, reason, usage };
    Ok(Json(api.pipeline.complete_for_remote(&run, &end).await?.without_chain()))
}

fn no_nul(text: Option<&str>, field: &str) -> Result<()> {
    match text.filter(|text| text.contains('\0')) {
        Some(_) => Err(Error::invalid(field, "expected a text without NUL")),
        None => Ok(()),
    }
}

fn check_stream_key(key: &str) -> Result<()> {
    no_nul(Some(key), "/streamKey")?;
    if (1..=STREAM_KEY_CHARS).contains(&key.chars().count()) {
        return Ok(());
    }
    Err(Error::invalid("/streamKey", format!("expected 1 to {STREAM_KEY_CHARS} characters")))
}
