//! `POST /v1/agents/{id}/a2a` and the agent's card: an open agent as an agent of A2A 1.0 over
//! JSON-RPC.
//!
//! A context is a space, and a task is a run of the agent there. A message without a context
//! creates a space with the caller and the agent.

mod admission;
mod card;
mod contexts;
mod encoder;
mod history;
mod messages;
mod parts;
mod request;
mod rpc;
mod task_json;
mod task_list;
mod task_runs;
mod tasks;
mod text_answers;

use std::time::Duration;

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{Path, RawQuery},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::Value;
use smartspace_client::{Refusal, Session as ApiSession};
use smartspace_domain::ids::{EntityId, RunId};
use tokio::time::timeout;

pub(crate) use self::admission::CALLS;
use crate::{
    a2a::{
        card::{OpenAgent, agent_card, card_response},
        encoder::TaskEncoder,
        messages::send,
        request::{SendMessage, TaskRequest},
        rpc::{Request, RpcError, answer, refuse},
        task_list::list,
        tasks::{cancel, subscribe, task},
    },
    auth::CallerId,
    problems::ProblemResponse,
    sse::{respond, respond_once},
    turn::TurnSession,
};

/// The version of the protocol.
const VERSION: &str = "1.0";
/// The header or the query parameter with the version that a client uses.
const VERSION_FIELD: &str = "a2a-version";

/// How long one call waits for the end of a task. AWS closes a response that sends nothing for five
/// minutes.
const MAX_WAIT: Duration = Duration::from_mins(4);

pub(crate) fn routes() -> Router {
    Router::new()
        .route("/v1/agents/{id}/.well-known/agent-card.json", get(show_card))
        .route("/v1/agents/{id}/a2a", post(call))
        // Clients that join an empty path to the address get this one.
        .route("/v1/agents/{id}/a2a/", post(call))
}

async fn show_card(
    Extension(api): Extension<ApiSession>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ProblemResponse> {
    let agent = open_agent(&api, &id).await?;
    Ok(card_response(&agent_card(&agent, api.address()), &headers))
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
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = match Request::parse(&body) {
        Ok(request) => request,
        Err(error) => return refuse(&Value::Null, error),
    };
    let agent = match open_agent(&api, &id).await {
        Ok(agent) => agent,
        Err(refusal) => return ProblemResponse::from(refusal).into_response(),
    };
    let version = version_of(&headers, query.as_deref());
    let outcome = if version == Some(VERSION) {
        run_method(&AgentCall { api, caller, agent }, &request).await
    } else {
        Err(RpcError::version(version))
    };
    if request.is_notification() {
        return StatusCode::ACCEPTED.into_response();
    }
    match outcome {
        Ok(Answer::Result(result)) => answer(request.id(), result),
        Ok(Answer::Task(task, turn, mut encoder)) => {
            let first = vec![encoder.task(task)];
            if encoder.has_ended() { respond_once(&first) } else { respond(*turn, encoder, first) }
        }
        Err(error) => refuse(request.id(), error),
    }
}

/// The version of the protocol that a client uses, without a patch number. `None` if it does not
/// say, or says it with an empty text.
fn version_of<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> Option<&'a str> {
    let header = headers.get(VERSION_FIELD).map(|value| value.to_str().unwrap_or("unknown"));
    let fields = query.unwrap_or_default().split('&').filter_map(|field| field.split_once('='));
    let mut fields = fields.filter(|(name, _)| name.eq_ignore_ascii_case(VERSION_FIELD));
    let header = header.map(str::trim).filter(|version| !version.is_empty());
    let field = || fields.next().map(|(_, value)| value.trim()).filter(|value| !value.is_empty());
    let version = header.or_else(field)?;
    let is_patch = version.strip_prefix(VERSION).is_some_and(|rest| rest.starts_with('.'));
    Some(if is_patch { VERSION } else { version })
}

async fn run_method(call: &AgentCall, request: &Request) -> Result<Answer, RpcError> {
    match request.method.as_str() {
        "SendMessage" => send_and_wait(call, request).await,
        "SendStreamingMessage" => {
            let message: SendMessage = request.params()?;
            let history = message.configuration.history_length;
            let (run, turn) = send(call, message).await?;
            stream(call, request, run, turn, history).await
        }
        "SubscribeToTask" => {
            let task: TaskRequest = request.params()?;
            let (run, turn) = subscribe(call, &task).await?;
            stream(call, request, run, turn, task.history_length).await
        }
        "GetTask" => {
            let request: TaskRequest = request.params()?;
            Ok(Answer::Result(task(call, request.run()?, request.history_length).await?))
        }
        "CancelTask" => {
            let request: TaskRequest = request.params()?;
            Ok(Answer::Result(cancel(call, request.run()?).await?))
        }
        "ListTasks" => Ok(Answer::Result(Box::pin(list(call, request.params()?)).await?)),
        "GetExtendedAgentCard" => Err(RpcError::no_extended_card()),
        method if method.contains("PushNotificationConfig") => Err(RpcError::no_push()),
        method => Err(RpcError::no_method(method)),
    }
}

/// Sends a message and waits until the task ends or asks, if the client wants that.
async fn send_and_wait(call: &AgentCall, request: &Request) -> Result<Answer, RpcError> {
    let message: SendMessage = request.params()?;
    let history = message.configuration.history_length;
    let returns_at_once = message.configuration.return_immediately || request.is_notification();
    let (run, mut turn) = send(call, message).await?;
    if !returns_at_once {
        let end = Box::pin(turn.until_end());
        // After the limit, the client gets a working task and reads it again.
        let _ = timeout(MAX_WAIT, end).await;
    }
    let task = task(call, run, history).await?;
    Ok(Answer::Result(serde_json::json!({"task": task})))
}

async fn stream(
    call: &AgentCall,
    request: &Request,
    run: RunId,
    turn: TurnSession,
    history: Option<usize>,
) -> Result<Answer, RpcError> {
    let task = task(call, run, history).await?;
    let encoder = TaskEncoder::new(request.id().clone(), run, turn.space());
    Ok(Answer::Task(task, turn.into(), encoder))
}

async fn open_agent(api: &ApiSession, id: &str) -> Result<OpenAgent, Refusal> {
    let id: EntityId = id.parse().map_err(|_| Refusal::new(404, "there is no such agent"))?;
    api.get(&format!("/v1/agents/{id}/card"), &[]).await
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    #[test]
    fn a_client_says_its_version_in_a_header_or_in_the_query() {
        let version = |header: Option<&str>, query: Option<&str>| {
            let name = HeaderName::from_static(VERSION_FIELD);
            let headers = header.map(|value| (name, value.parse().unwrap()));
            version_of(&HeaderMap::from_iter(headers), query).map(str::to_owned)
        };
        for (header, query, expected) in [
            (None, None, None),
            (Some(""), None, None),
            (Some("1.0"), None, Some("1.0")),
            (Some("1.0.3"), None, Some("1.0")),
            (Some("1.01"), None, Some("1.01")),
            (Some("0.3"), None, Some("0.3")),
            (None, Some("A2A-Version=1.0"), Some("1.0")),
            (None, Some("a=b&a2a-version=0.3"), Some("0.3")),
            (Some(""), Some("A2A-Version=1.0"), Some("1.0")),
            (Some("1.0"), Some("A2A-Version=0.3"), Some("1.0")),
        ] {
            assert_eq!(version(header, query).as_deref(), expected, "{header:?} {query:?}");
        }
    }
}
