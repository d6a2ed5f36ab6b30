//! Tasks: the runs of an agent, as A2A shows them.

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    events::AskedCall,
    ids::{RunId, SpaceId},
    messages::Message,
    runs::{Run, RunStatus},
    triggers::Trigger,
};

use crate::{
    a2a::{Caller, rpc::RpcError},
    api_client::{Refusal, messages_path},
    conversation::{Conversation, Opening, Page, id_for_clients, is_open_form},
    files::{LinkedFile, links},
    narration::card_of,
};

/// How many messages after a task's own are read for its artifacts.
const MESSAGES: usize = 200;
/// How many tasks a page has at most, and without `pageSize`.
const MOST_TASKS: usize = 100;
const TASKS: usize = 50;

/// The parameters of the methods of one task.
#[derive(Debug, Deserialize)]
pub(super) struct TaskAsked {
    id: String,
}

impl TaskAsked {
    pub(super) fn run(&self) -> Result<RunId, RpcError> {
        self.id.parse().map_err(|_| RpcError::no_task())
    }
}

/// The parameters of `ListTasks`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TasksAsked {
    #[serde(default)]
    context_id: String,
    #[serde(default)]
    status: String,
    page_size: Option<usize>,
    #[serde(default)]
    page_token: String,
}

/// A run of the caller's agent that a message in a space triggered, and that space.
pub(super) async fn run_of_task(caller: &Caller, id: &str) -> Result<(Run, SpaceId), RpcError> {
    let id: RunId = id.parse().map_err(|_| RpcError::no_task())?;
    let unknown = |refusal: Refusal| match refusal.status {
        404 => RpcError::no_task(),
        _ => refusal.into(),
    };
    let run: Run = caller.visitor.get(&format!("/v1/runs/{id}"), &[]).await.map_err(unknown)?;
    let space = space_of(&run).filter(|_| run.agent_id == caller.agent.id);
    let space = space.ok_or_else(RpcError::no_task)?;
    Ok((run, space))
}

/// A task with its artifacts.
pub(super) async fn task(caller: &Caller, id: RunId) -> Result<Value, RpcError> {
    let (run, space) = run_of_task(caller, &id.to_string()).await?;
    // Another run may answer its message.
    let works = match run.into_run_id {
        Some(into) => caller.visitor.get(&format!("/v1/runs/{into}"), &[]).await?,
        None => run.clone(),
    };
    let seq = match &run.trigger {
        Trigger::SpaceMessage { seq, .. } => *seq,
        _ => 0,
    };
    let query = [("after", seq.to_string()), ("limit", MESSAGES.to_string())];
    let page: Page<Message> = caller.visitor.get(&messages_path(space), &query).await?;
    let its: Vec<_> =
        page.items.iter().filter(|message| message.run_id == Some(works.id)).collect();
    let mut artifacts = Vec::new();
    for message in &its {
        let files = links(&caller.visitor, message).await;
        if card_of(message).is_none() || !files.is_empty() {
            artifacts.push(artifact_of(message, files));
        }
    }
    let mut forms = its.iter().filter(|message| is_open_form(message));
    let form = forms.find_map(|message| AskedCall::of(message));
    let mut task = shown(&run, &works, space);
    if let Some(form) = form {
        task["status"]["message"] = question(&form, space, id);
    }
    task["artifacts"] = artifacts.into();
    Ok(task)
}

/// A task without its artifacts. `works` is the run that answers its message.
fn shown(run: &Run, works: &Run, space: SpaceId) -> Value {
    let at = works.finished_at.or(works.started_at).unwrap_or(works.created_at);
    let mut status = json!({"state": state_of(works.status), "timestamp": at});
    if let Some(error) = &works.error {
        status["message"] = spoken(&format!("{}-error", run.id), space, run.id, &error.message);
    }
    json!({"id": run.id, "contextId": space, "status": status})
}

/// Cancels a task.
pub(super) async fn cancel(caller: &Caller, id: RunId) -> Result<Value, RpcError> {
    run_of_task(caller, &id.to_string()).await?;
    let path = format!("/v1/runs/{id}/cancel");
    let canceled: Result<Value, Refusal> = caller.visitor.post(&path, &json!({}), None).await;
    canceled.map_err(|refusal| match refusal.status {
        409 => RpcError::not_cancelable(),
        _ => refusal.into(),
    })?;
    task(caller, id).await
}

/// Follows a task that has not ended.
pub(super) async fn subscribe(
    caller: &Caller,
    asked: &TaskAsked,
) -> Result<(RunId, Conversation), RpcError> {
    let (run, space) = run_of_task(caller, &asked.id).await?;
    if !run.status.is_active() {
        return Err(RpcError::unsupported("the task has ended; use GetTask"));
    }
    let opening = Opening::of(&caller.visitor, caller.me, &space.to_string()).await?;
    Ok((run.id, opening.follow_run(run.id).await?))
}

/// The tasks of a context, newest first.
pub(super) async fn list(caller: &Caller, asked: TasksAsked) -> Result<Value, RpcError> {
    let space: SpaceId = asked
        .context_id
        .parse()
        .map_err(|_| RpcError::invalid("contextId: expected the id of a context"))?;
    let size = asked.page_size.unwrap_or(TASKS).clamp(1, MOST_TASKS);
    let mut query = vec![("limit", size.to_string())];
    if !asked.page_token.is_empty() {
        query.push(("cursor", asked.page_token));
    }
    let page: Page<Run> = caller.visitor.get(&format!("/v1/spaces/{space}/runs"), &query).await?;
    let any = ["", "TASK_STATE_UNSPECIFIED"].contains(&asked.status.as_str());
    let its = page.items.iter().filter(|run| {
        let is_asked = any || state_of(run.status) == asked.status;
        run.agent_id == caller.agent.id && is_asked
    });
    let tasks: Vec<_> = its.map(|run| shown(run, run, space)).collect();
    Ok(json!({
        "nextPageToken": page.next_cursor.unwrap_or_default(),
        "pageSize": size,
        "totalSize": tasks.len(),
        "tasks": tasks,
    }))
}

fn space_of(run: &Run) -> Option<SpaceId> {
    if let Trigger::SpaceMessage { space_id, .. } = &run.trigger { Some(*space_id) } else { None }
}

/// The state of a task whose run has this status.
pub(super) fn state_of(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "TASK_STATE_SUBMITTED",
        RunStatus::Running => "TASK_STATE_WORKING",
        RunStatus::WaitingTool => "TASK_STATE_INPUT_REQUIRED",
        RunStatus::Completed => "TASK_STATE_COMPLETED",
        RunStatus::Failed => "TASK_STATE_FAILED",
        RunStatus::Canceled => "TASK_STATE_CANCELED",
    }
}

/// What the agent has posted: the text of a message, and its files. Of a card the files alone.
fn artifact_of(message: &Message, files: Vec<LinkedFile>) -> Value {
    let is_text = card_of(message).is_none() && (!message.text().is_empty() || files.is_empty());
    let text = is_text.then(|| json!({"text": message.text()}));
    let parts: Vec<_> = text.into_iter().chain(files.into_iter().map(file_part)).collect();
    json!({"artifactId": id_for_clients(message), "parts": parts})
}

/// A file, whose address works for a while.
pub(super) fn file_part(LinkedFile { part, url }: LinkedFile) -> Value {
    json!({
        "url": url,
        "filename": part.name,
        "mediaType": part.content_type,
        "metadata": {"attachmentId": part.attachment_id, "bytes": part.bytes},
    })
}

/// A message of the agent about a task.
pub(super) fn spoken(id: &str, space: SpaceId, task: RunId, text: &str) -> Value {
    json!({
        "messageId": id,
        "contextId": space,
        "taskId": task,
        "role": "ROLE_AGENT",
        "parts": [{"text": text}],
    })
}

/// The form for which a task waits, as a message of the agent.
pub(super) fn question(form: &AskedCall, space: SpaceId, task: RunId) -> Value {
    let ask = form.input["message"].as_str().unwrap_or(&form.name);
    let mut message = spoken(&form.call_id.to_string(), space, task, ask);
    let data = json!({
        "callId": form.call_id,
        "name": form.name,
        "input": form.input,
        "ui": form.ui,
        "resultSchema": form.result_schema,
        "expiresAt": form.expires_at,
    });
    if let Some(parts) = message["parts"].as_array_mut() {
        parts.push(json!({"data": data}));
    }
    message
}
