//! The A2A methods that read, follow and cancel a task. A task is a run of the agent that a message
//! triggered.

use serde_json::{Value, json};
use smartspace_client::{Refusal, file_links};
use smartspace_domain::{
    events::AskedCall,
    ids::{RunId, SpaceId},
    runs::Run,
    spaces::Space,
    triggers::Trigger,
};

use crate::{
    a2a::{
        AgentCall,
        history::history_of,
        request::TaskRequest,
        rpc::RpcError,
        task_json::{agent_message, artifact_of, error_id, form_message},
        task_runs::{TaskMessages, TaskRun, TaskStatus, answering_run},
    },
    turn::{Asked, TurnSession, TurnSetup, card_of, is_open_form},
};

/// What is written of a task besides its status.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskDetail {
    pub(super) artifacts: bool,
    /// The maximum number of messages in the history. `None` for all.
    pub(super) history: Option<usize>,
}

/// A run of the called agent that a message triggered, and the space of that message.
pub(super) async fn run_of_task(call: &AgentCall, id: &str) -> Result<(Run, SpaceId), RpcError> {
    let id: RunId = id.parse().map_err(|_| RpcError::no_task())?;
    let unknown = |refusal: Refusal| match refusal.status {
        404 => RpcError::no_task(),
        _ => refusal.into(),
    };
    let run: Run = call.api.get(&format!("/v1/runs/{id}"), &[]).await.map_err(unknown)?;
    let space = space_of(&run).filter(|_| run.agent_id == call.agent.id);
    let space = space.ok_or_else(RpcError::no_task)?;
    Ok((run, space))
}

/// A task with its artifacts, and with at most `history` messages if it is limited.
pub(super) async fn task(
    call: &AgentCall,
    id: RunId,
    history: Option<usize>,
) -> Result<Value, RpcError> {
    let (run, space) = run_of_task(call, &id.to_string()).await?;
    let answering = answering_run(call, &run).await?;
    let task = TaskRun { run, answering, space };
    let messages = task.messages(&call.api).await?;
    let detail = TaskDetail { artifacts: true, history };
    Box::pin(task_json(call, &task, &messages, detail)).await
}

/// A task whose messages were read.
pub(super) async fn task_json(
    call: &AgentCall,
    task: &TaskRun,
    messages: &TaskMessages,
    detail: TaskDetail,
) -> Result<Value, RpcError> {
    let TaskRun { run, answering, space } = task;
    let forms = messages.of_run(answering.id).filter(|message| is_open_form(message));
    let form = asking(call, *space, forms.filter_map(AskedCall::of).collect()).await?;
    let mut shown = bare_task(task, task.status_with(messages));
    if let Some(form) = &form {
        shown["status"]["message"] = form_message(form, *space, run.id);
    }
    if detail.artifacts {
        let mut artifacts = Vec::new();
        for message in messages.of_run(answering.id) {
            let files = file_links(&call.api, message).await;
            if card_of(message).is_none() || !files.is_empty() {
                artifacts.push(artifact_of(message, &files));
            }
        }
        shown["artifacts"] = artifacts.into();
    }
    if detail.history != Some(0) {
        let asked = form.map(|form| form.call_id);
        let mut history = history_of(call, task, messages, asked).await;
        let most = detail.history.unwrap_or(usize::MAX);
        history.drain(..history.len().saturating_sub(most));
        if !history.is_empty() {
            shown["history"] = history.into();
        }
    }
    Ok(shown)
}

/// A task without its artifacts and its history.
pub(super) fn bare_task(task: &TaskRun, status: TaskStatus) -> Value {
    let TaskRun { run, answering, space } = task;
    let TaskStatus { state, at } = status;
    let mut status = json!({"state": state, "timestamp": at});
    if let Some(error) = &answering.error {
        status["message"] = agent_message(&error_id(run.id), *space, run.id, &error.message);
    }
    json!({"id": run.id, "contextId": space, "status": status})
}

/// The first of these cards that asks the caller.
async fn asking(
    call: &AgentCall,
    space: SpaceId,
    forms: Vec<AskedCall>,
) -> Result<Option<AskedCall>, RpcError> {
    if forms.is_empty() {
        return Ok(None);
    }
    let space: Space = call.api.get(&format!("/v1/spaces/{space}"), &[]).await?;
    let caller = Asked::in_space(call.caller, &space);
    Ok(forms.into_iter().find(|form| caller.by(form)))
}

/// Cancels a task.
pub(super) async fn cancel(call: &AgentCall, id: RunId) -> Result<Value, RpcError> {
    run_of_task(call, &id.to_string()).await?;
    let path = format!("/v1/runs/{id}/cancel");
    let canceled: Result<Value, Refusal> = call.api.post(&path, &json!({}), None).await;
    canceled.map_err(|refusal| match refusal.status {
        409 => RpcError::not_cancelable(),
        _ => refusal.into(),
    })?;
    task(call, id, None).await
}

/// Follows a task that has not ended. If it waits for an answer, it is followed until it goes on.
pub(super) async fn subscribe(
    call: &AgentCall,
    request: &TaskRequest,
) -> Result<(RunId, TurnSession), RpcError> {
    let (run, space) = run_of_task(call, &request.id).await?;
    if !run.status.is_active() {
        return Err(RpcError::unsupported("the task has ended; use GetTask"));
    }
    let setup = TurnSetup::open(&call.api, call.caller, &space.to_string()).await?;
    Ok((run.id, setup.follow_waiting_run(run.id).await?))
}

fn space_of(run: &Run) -> Option<SpaceId> {
    if let Trigger::SpaceMessage { space_id, .. } = &run.trigger { Some(*space_id) } else { None }
}
