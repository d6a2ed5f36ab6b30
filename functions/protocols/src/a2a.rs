//! `POST /v1/agents/{id}/a2a` and the agent's card: an open agent as an agent of A2A 1.0 (JSON-RPC).
//!
//! A context is a space and a task is a run of the agent there. A message without a context makes a
//! space of the caller and the agent.

mod card;
mod messages;
mod rpc;
mod tasks;
mod telling;

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
use smartspace_domain::ids::{EntityId, RunId};
use tokio::time::timeout;

use crate::{
    a2a::{
        card::AboutAgent,
        messages::{SendMessage, send},
        rpc::{Request, RpcError, answer, refuse},
        tasks::{TaskAsked, cancel, list, subscribe, task},
        telling::Telling,
    },
    api_client::{Refusal, Visitor},
    caller::Me,
    conversation::Conversation,
    event_stream::respond,
};

/// The version of the protocol.
const VERSION: &str = "1.0";
/// The header in which clients name the version that they speak.
const VERSION_HEADER: &str = "a2a-version";

/// How long a client waits for the end of a task in one call. On AWS a response of which nothing is
/// sent for five minutes breaks off.
const ANSWERED_WITHIN: Duration = Duration::from_mins(4);

/// The routes.
pub(crate) fn routes() -> Router {
    Router::new()
        .route("/v1/agents/{id}/.well-known/agent-card.json", get(show_card))
        .route("/v1/agents/{id}/a2a", post(call))
}

async fn show_card(
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, Refusal> {
    let about = about(&visitor, &id).await?;
    Ok(Json(card::card_of(&about, &headers)))
}

/// A caller of an agent.
pub(super) struct Caller {
    visitor: Visitor,
    me: EntityId,
    agent: AboutAgent,
}

/// What a method answers.
enum Answer {
    Result(Value),
    /// The task as it is, and what becomes of it.
    Task(Value, Box<Conversation>, Telling),
}

async fn call(
    Extension(visitor): Extension<Visitor>,
    Extension(Me(me)): Extension<Me>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = match Request::read(&body) {
        Ok(request) => request,
        Err(error) => return refuse(&Value::Null, error),
    };
    let version = headers.get(VERSION_HEADER).map(HeaderValue::as_bytes);
    if version.is_some_and(|version| version != VERSION.as_bytes()) {
        return refuse(&request.id, RpcError::version());
    }
    let agent = match about(&visitor, &id).await {
        Ok(agent) => agent,
        Err(refusal) => return refusal.into_response(),
    };
    let caller = Caller { visitor, me, agent };
    match run_method(&caller, &request).await {
        Ok(Answer::Result(result)) => answer(&request.id, result),
        Ok(Answer::Task(task, conversation, telling)) => {
            let first = vec![telling.task(task)];
            respond(*conversation, telling, first)
        }
        Err(error) => refuse(&request.id, error),
    }
}

async fn run_method(caller: &Caller, request: &Request) -> Result<Answer, RpcError> {
    match request.method.as_str() {
        "SendMessage" => {
            let message: SendMessage = request.params()?;
            let returns_at_once = message.configuration.return_immediately;
            let (run, mut conversation) = send(caller, message).await?;
            if !returns_at_once {
                let ending = Box::pin(conversation.until_end());
                // If it takes longer, the client asks again for the task, which is at work.
                let _ = timeout(ANSWERED_WITHIN, ending).await;
            }
            let task = task(caller, run).await?;
            Ok(Answer::Result(serde_json::json!({"task": task})))
        }
        "SendStreamingMessage" => {
            let (run, conversation) = send(caller, request.params()?).await?;
            streamed(caller, request, run, conversation).await
        }
        "SubscribeToTask" => {
            let (run, conversation) = subscribe(caller, &request.params::<TaskAsked>()?).await?;
            streamed(caller, request, run, conversation).await
        }
        "GetTask" => {
            let asked: TaskAsked = request.params()?;
            Ok(Answer::Result(task(caller, asked.run()?).await?))
        }
        "CancelTask" => {
            let asked: TaskAsked = request.params()?;
            Ok(Answer::Result(cancel(caller, asked.run()?).await?))
        }
        "ListTasks" => Ok(Answer::Result(list(caller, request.params()?).await?)),
        "GetExtendedAgentCard" => Err(RpcError::no_extended_card()),
        method if method.contains("PushNotificationConfig") => Err(RpcError::no_push()),
        method => Err(RpcError::no_method(method)),
    }
}

async fn streamed(
    caller: &Caller,
    request: &Request,
    run: RunId,
    conversation: Conversation,
) -> Result<Answer, RpcError> {
    let task = task(caller, run).await?;
    let telling = Telling::new(request.id.clone(), run, conversation.space());
    Ok(Answer::Task(task, conversation.into(), telling))
}

async fn about(visitor: &Visitor, id: &str) -> Result<AboutAgent, Refusal> {
    let id: EntityId = id.parse().map_err(|_| Refusal::new(404, "there is no such agent"))?;
    visitor.get(&format!("/v1/agents/{id}/card"), &[]).await
}
