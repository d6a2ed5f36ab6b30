//! `POST /v1/agents/{id}/a2a` and the agent's card: an open agent as an agent of A2A 1.0 over
//! JSON-RPC.
//!
//! A context is a space, and a task is a run of the agent there. A message without a context
//! creates a space with the caller and the agent.

mod card;
mod encoder;
mod messages;
mod request;
mod rpc;
mod task_json;
mod tasks;

use std::time::Duration;

use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::Path,
    http::{HeaderMap, HeaderValue},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::Value;
use smartspace_client::{Refusal, Session as ApiSession};
use smartspace_domain::ids::{EntityId, RunId};
use tokio::time::timeout;

use crate::{
    a2a::{
        card::OpenAgent,
        encoder::TaskEncoder,
        messages::send,
        request::{SendMessage, TaskRequest},
        rpc::{Request, RpcError, answer, refuse},
        tasks::{cancel, list, subscribe, task},
    },
    auth::CallerId,
    problems::ProblemResponse,
    sse::respond,
    turn::TurnSession,
};

/// The version of the protocol.
const VERSION: &str = "1.0";
/// The header with the version that a client uses.
const VERSION_HEADER: &str = "a2a-version";

/// How long one call waits for the end of a task. AWS closes a response that sends nothing for five
/// minutes.
const MAX_WAIT: Duration = Duration::from_mins(4);

pub(crate) fn routes() -> Router {
    Router::new()
        .route("/v1/agents/{id}/.well-known/agent-card.json", get(show_card))
        .route("/v1/agents/{id}/a2a", post(call))
}

async fn show_card(
    Extension(api): Extension<ApiSession>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ProblemResponse> {
    let agent = open_agent(&api, &id).await?;
    Ok(Json(card::agent_card(&agent, api.address())))
}

/// An agent and the entity that calls it.
pub(super) struct AgentCall {
    api: ApiSession,
    caller: EntityId,
    agent: OpenAgent,
}

/// The answer of a method.
enum Answer {
    Result(Value),
    /// The task as it is, and the turn that follows.
    Task(Value, Box<TurnSession>, TaskEncoder),
}

async fn call(
    Extension(api): Extension<ApiSession>,
    Extension(CallerId(caller)): Extension<CallerId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = match Request::parse(&body) {
        Ok(request) => request,
        Err(error) => return refuse(&Value::Null, error),
    };
    let version = headers.get(VERSION_HEADER).map(HeaderValue::as_bytes);
    if version.is_some_and(|version| version != VERSION.as_bytes()) {
        return refuse(&request.id, RpcError::version());
    }
    let agent = match open_agent(&api, &id).await {
        Ok(agent) => agent,
        Err(refusal) => return ProblemResponse::from(refusal).into_response(),
    };
    let call = AgentCall { api, caller, agent };
    match run_method(&call, &request).await {
        Ok(Answer::Result(result)) => answer(&request.id, result),
        Ok(Answer::Task(task, turn, encoder)) => {
            let first = vec![encoder.task(task)];
            respond(*turn, encoder, first)
        }
        Err(error) => refuse(&request.id, error),
    }
}

async fn run_method(call: &AgentCall, request: &Request) -> Result<Answer, RpcError> {
    match request.method.as_str() {
        "SendMessage" => {
            let message: SendMessage = request.params()?;
            let returns_at_once = message.configuration.return_immediately;
            let (run, mut turn) = send(call, message).await?;
            if !returns_at_once {
                let end = Box::pin(turn.until_end());
                // After the limit, the client gets a working task and reads it again.
                let _ = timeout(MAX_WAIT, end).await;
            }
            let task = task(call, run).await?;
            Ok(Answer::Result(serde_json::json!({"task": task})))
        }
        "SendStreamingMessage" => {
            let (run, turn) = send(call, request.params()?).await?;
            stream(call, request, run, turn).await
        }
        "SubscribeToTask" => {
            let (run, turn) = subscribe(call, &request.params::<TaskRequest>()?).await?;
            stream(call, request, run, turn).await
        }
        "GetTask" => {
            let request: TaskRequest = request.params()?;
            Ok(Answer::Result(task(call, request.run()?).await?))
        }
        "CancelTask" => {
            let request: TaskRequest = request.params()?;
            Ok(Answer::Result(cancel(call, request.run()?).await?))
        }
        "ListTasks" => Ok(Answer::Result(list(call, request.params()?).await?)),
        "GetExtendedAgentCard" => Err(RpcError::no_extended_card()),
        method if method.contains("PushNotificationConfig") => Err(RpcError::no_push()),
        method => Err(RpcError::no_method(method)),
    }
}

async fn stream(
    call: &AgentCall,
    request: &Request,
    run: RunId,
    turn: TurnSession,
) -> Result<Answer, RpcError> {
    let task = task(call, run).await?;
    let encoder = TaskEncoder::new(request.id.clone(), run, turn.space());
    Ok(Answer::Task(task, turn.into(), encoder))
}

async fn open_agent(api: &ApiSession, id: &str) -> Result<OpenAgent, Refusal> {
    let id: EntityId = id.parse().map_err(|_| Refusal::new(404, "there is no such agent"))?;
    api.get(&format!("/v1/agents/{id}/card"), &[]).await
}
