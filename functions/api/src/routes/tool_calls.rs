//! Tool calls that wait for an answer of a person.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode, response::IntoResponse};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    access::Caller,
    forms::FormAnswer,
    ids::{CallId, EntityId, RunId},
};
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::{Body, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![answer]
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResultBody {
    #[serde(default, deserialize_with = "given")]
    output: Option<Value>,
    #[serde(default)]
    declined: bool,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    sender_id: Option<EntityId>,
}

/// Tells null, which is an output, from a missing field.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl ResultBody {
    fn answer(self) -> Result<FormAnswer> {
        match (self.output, self.declined, self.reason) {
            (Some(output), false, None) => Ok(FormAnswer::Output(output)),
            (None, true, reason) => Ok(FormAnswer::Declined(reason)),
            (Some(_), _, Some(_)) | (None, false, Some(_)) => {
                Err(Error::invalid("/reason", "allowed only with declined: true"))
            }
            (Some(_), true, None) => Err(Error::invalid(
                "/declined",
                "expected either output or declined: true, got both",
            )),
            (None, false, None) => {
                Err(Error::invalid("", "expected either output or declined: true, got neither"))
            }
        }
    }
}

/// The result of a tool call: an output, or a refusal to answer.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes a body")]
enum ToolResult {
    Output(OutputResult),
    Declined(DeclinedResult),
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "it only describes a body")]
struct OutputResult {
    /// The answer. It must match the call's `resultSchema` and have at most 32 KiB as JSON.
    output: Value,
    /// The entity that answers. Allowed with the admin key only.
    sender_id: Option<EntityId>,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "it only describes a body")]
struct DeclinedResult {
    /// Always true.
    #[schema(schema_with = only_true)]
    declined: bool,
    /// Why the person declines.
    #[schema(max_length = 1_000)]
    reason: Option<String>,
    /// The entity that answers. Allowed with the admin key only.
    sender_id: Option<EntityId>,
}

fn only_true() -> utoipa::openapi::Object {
    use utoipa::openapi::schema::{ObjectBuilder, Type};
    ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([true])).build()
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TakenResponse {
    run_id: RunId,
    call_id: CallId,
}

/// Answer a form
///
/// A form is answered once, and the run continues with the answer. The same person may repeat the
/// same answer. With the admin key, the operator may answer any form. With `senderId` the answer
/// comes from that entity, which must be allowed to answer.
#[utoipa::path(
    post, path = "/v1/runs/{id}/toolCalls/{callId}/result",
    operation_id = "answerToolCall", tag = "runs",
    params(("id" = RunId, Path), ("callId" = CallId, Path)),
    request_body = ToolResult,
    responses(
        (status = 202, body = TakenResponse),
        (status = 409, description = "The form has another answer, it has expired, or its run \
            has ended.")
    )
)]
async fn answer(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    TwoIds(run_id, call_id): TwoIds<RunId, CallId>,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let body: ResultBody = body.read()?;
    let caller = match body.sender_id {
        Some(_) => Caller::Entity(caller.speaks_as(body.sender_id)?),
        None => caller,
    };
    let answer = body.answer()?;
    api.pipeline.answer_form(caller, run_id, call_id, &answer).await?;
    Ok((StatusCode::ACCEPTED, Json(TakenResponse { run_id, call_id })))
}
