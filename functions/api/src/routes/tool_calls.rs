//! Tool calls that wait for people: for an answer, or for decisions.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode, response::IntoResponse};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    approvals::{ApprovalCount, Decision, DecisionAction, Remember},
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
    routes![answer, decide]
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
    let sender = body.sender_id;
    let answer = body.answer()?;
    api.pipeline.answer_form(caller, sender, run_id, call_id, &answer).await?;
    Ok((StatusCode::ACCEPTED, Json(TakenResponse { run_id, call_id })))
}

/// A decision on a call that waits for approval.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DecisionBody {
    /// What is decided.
    action: DecisionAction,
    /// With `edit`: the new input, at most 64 KiB as JSON.
    #[serde(default, deserialize_with = "given")]
    input: Option<Value>,
    /// With `respond`: the result for the model. With `decline`: the reason.
    #[serde(default)]
    #[schema(max_length = 1_000)]
    text: Option<String>,
    /// With `approve`: later calls that fit are made without asking.
    #[serde(default)]
    remember: Option<Remember>,
    /// With `approve` or `edit`: the `inputRevision` of the card that the person has seen. If
    /// somebody has edited the input since, the answer is 409. Without it, the decision counts for
    /// the input as it is now.
    #[serde(default)]
    input_revision: Option<u32>,
    /// The person who decides. Required with the admin key; otherwise the caller.
    #[serde(default)]
    sender_id: Option<EntityId>,
}

/// The approvals of a call.
#[derive(Serialize, ToSchema)]
struct DecisionResponse {
    /// How many there are after the decision.
    approvals: ApprovalCount,
}

/// Decide a call that waits for approval
///
/// People decide: those whom the rule that stopped the call names. The call is made once enough
/// people have approved it. Any other decision ends the waiting at once. The same person may repeat
/// the same decision. The operator decides in the name of the person in `senderId`.
#[utoipa::path(
    post, path = "/v1/runs/{id}/toolCalls/{callId}/decision",
    operation_id = "decideToolCall", tag = "runs",
    params(("id" = RunId, Path), ("callId" = CallId, Path)),
    request_body = DecisionBody,
    responses(
        (status = 202, body = DecisionResponse),
        (status = 409, description = "The call has another decision, it has expired, its run has \
            ended, somebody has edited the input since, or a rule of the agent refuses the new \
            input.")
    )
)]
async fn decide(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    TwoIds(run_id, call_id): TwoIds<RunId, CallId>,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let DecisionBody { action, input, text, remember, input_revision, sender_id } = body.read()?;
    let decision = Decision { action, input, text, remember, input_revision };
    let approvals = api.pipeline.decide(caller, sender_id, run_id, call_id, &decision).await?;
    Ok((StatusCode::ACCEPTED, Json(DecisionResponse { approvals })))
}
