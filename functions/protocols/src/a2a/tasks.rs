//! The A2A methods that read, list, follow and cancel tasks. A task is a run of the agent.

use serde_json::{Value, json};
use smartspace_client::{Page, Refusal, file_links, messages_path};
use smartspace_domain::{
    events::AskedCall,
    ids::{RunId, SpaceId},
    messages::Message,
    runs::Run,
    spaces::Space,
    triggers::Trigger,
};

use crate::{
    a2a::{
        AgentCall,
        request::{TaskListRequest, TaskRequest},
        rpc::RpcError,
        task_json::{artifact_of, bare_task, form_message, state_of},
    },
    turn::{Asked, TurnSession, TurnSetup, card_of, is_open_form},
};

/// How many messages after that of a task are read for its artifacts.
const MAX_MESSAGES: usize = 200;
/// The maximum and the default number of tasks on a page.
const MAX_TASKS: usize = 100;
const DEFAULT_TASKS: usize = 50;

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

/// A task with its artifacts.
pub(super) async fn task(call: &AgentCall, id: RunId) -> Result<Value, RpcError> {
    let (run, space) = run_of_task(call, &id.to_string()).await?;
    // If the run was coalesced, another run answers the message of the task.
    let answering_run = match run.into_run_id {
        Some(into) => call.api.get(&format!("/v1/runs/{into}"), &[]).await?,
        None => run.clone(),
    };
    let seq = match &run.trigger {
        Trigger::SpaceMessage { seq, .. } => *seq,
        _ => 0,
    };
    let query = [("after", seq.to_string()), ("limit", MAX_MESSAGES.to_string())];
    let page: Page<Message> = call.api.get(&messages_path(space), &query).await?;
    let posted: Vec<_> =
        page.items.iter().filter(|message| message.run_id == Some(answering_run.id)).collect();
    let mut artifacts = Vec::new();
    for message in &posted {
        let files = file_links(&call.api, message).await;
        if card_of(message).is_none() || !files.is_empty() {
            artifacts.push(artifact_of(message, &files));
        }
    }
    let forms = posted.iter().filter(|message| is_open_form(message));
    let forms: Vec<_> = forms.filter_map(|message| AskedCall::of(message)).collect();
    let form = asking(call, space, forms).await?;
    let mut task = bare_task(&run, &answering_run, space);
    if let Some(form) = form {
        task["status"]["message"] = form_message(&form, space, id);
    }
    task["artifacts"] = artifacts.into();
    Ok(task)
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
    task(call, id).await
}

/// Follows a task that has not ended.
pub(super) async fn subscribe(
    call: &AgentCall,
    request: &TaskRequest,
) -> Result<(RunId, TurnSession), RpcError> {
    let (run, space) = run_of_task(call, &request.id).await?;
    if !run.status.is_active() {
        return Err(RpcError::unsupported("the task has ended; use GetTask"));
    }
    let setup = TurnSetup::open(&call.api, call.caller, &space.to_string()).await?;
    Ok((run.id, setup.follow_run(run.id).await?))
}

/// The tasks of a context, newest first.
pub(super) async fn list(call: &AgentCall, request: TaskListRequest) -> Result<Value, RpcError> {
    let space: SpaceId = request
        .context_id
        .parse()
        .map_err(|_| RpcError::invalid("contextId: expected the id of a context"))?;
    let size = request.page_size.unwrap_or(DEFAULT_TASKS).clamp(1, MAX_TASKS);
    let mut query = vec![("limit", size.to_string())];
    if !request.page_token.is_empty() {
        query.push(("cursor", request.page_token));
    }
    let page: Page<Run> = call.api.get(&format!("/v1/spaces/{space}/runs"), &query).await?;
    let any = ["", "TASK_STATE_UNSPECIFIED"].contains(&request.status.as_str());
    let matching = page.items.iter().filter(|run| {
        let has_status = any || state_of(run.status) == request.status;
        run.agent_id == call.agent.id && has_status
    });
    let tasks: Vec<_> = matching.map(|run| bare_task(run, run, space)).collect();
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
