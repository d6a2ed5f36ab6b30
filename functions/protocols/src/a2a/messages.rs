//! Messages of a client to an agent. A new message starts a task; a message with a task answers the
//! form for which the task waits, or decides the call that waits for approval.

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_client::{NewMessage, messages_path};
use smartspace_domain::{
    dispatch::Dispatch,
    events::AskedCall,
    ids::{CallId, EntityId, RunId, SpaceId},
    messages::Message,
    runs::{Run, RunStatus},
};

use crate::{
    a2a::{
        AgentCall,
        request::{ClientMessage, SendMessage, content_of},
        rpc::RpcError,
        tasks::run_of_task,
    },
    turn::{Asked, FormAnswer, Post, TurnSession, TurnSetup, is_open_form, key_of},
};

#[derive(Debug, Deserialize)]
struct CreatedSpace {
    id: SpaceId,
}

/// The answer of the API to a preview.
#[derive(Debug, Deserialize)]
struct Preview {
    dispatch: Vec<Dispatch>,
}

/// Sends a message. Returns the run that it triggers or whose form it answers, and its turn.
pub(super) async fn send(
    call: &AgentCall,
    request: SendMessage,
) -> Result<(RunId, TurnSession), RpcError> {
    let message = request.message;
    if message.task_id.is_empty() {
        start_task(call, message).await
    } else {
        answer_task(call, message).await
    }
}

/// Posts a message that triggers the agent.
async fn start_task(
    call: &AgentCall,
    message: ClientMessage,
) -> Result<(RunId, TurnSession), RpcError> {
    let (text, files) = content_of(&message.parts)?;
    let key = key_of("a2a", &message.message_id)
        .map_err(|_| RpcError::invalid("message.messageId: expected printable ASCII characters"))?;
    let new = NewMessage { text: &text, files: &files, ..NewMessage::default() };
    // The check comes before the space, so that a bad message leaves no empty space behind.
    new.check().map_err(|reason| RpcError::invalid(format!("message: {reason}")))?;
    let space = if message.context_id.is_empty() {
        let body = json!({"name": call.agent.name, "members": [call.agent.id]});
        let created: CreatedSpace = call.api.post("/v1/spaces", &body, Some(key.as_str())).await?;
        created.id.to_string()
    } else {
        message.context_id
    };
    let mut setup = TurnSetup::open(&call.api, call.caller, &space).await?;
    if !setup.space.members.iter().any(|member| member.id == call.agent.id) {
        return Err(RpcError::invalid("message.contextId: the agent is not in this space"));
    }
    let text = triggering_text(call, setup.space.id, text, !files.is_empty()).await?;
    let message = setup.post(&Post { key, text, files }).await?;
    let dispatch = setup.dispatch_of(message).await?;
    let run = run_for(&dispatch, call.agent.id).ok_or_else(|| {
        RpcError::unsupported("the message is posted, but it did not trigger the agent")
    })?;
    Ok((run, setup.follow_run(run).await?))
}

/// The text, or the text with a mention of the agent if only that triggers the agent.
async fn triggering_text(
    call: &AgentCall,
    space: SpaceId,
    text: String,
    has_files: bool,
) -> Result<String, RpcError> {
    let mut reason = None;
    let mention = format!("@{} {text}", call.agent.name);
    // A message with files may have no text. Then only the mention is tried: the preview of an
    // empty text would be refused.
    let is_empty = has_files && text.is_empty();
    let texts = [(!is_empty).then_some(text), Some(mention.trim_end().to_owned())];
    for text in texts.into_iter().flatten() {
        let path = format!("{}/preview", messages_path(space));
        let preview: Preview = call.api.post(&path, &json!({"text": text}), None).await?;
        let one = preview.dispatch.into_iter().find(|one| one.agent_id == call.agent.id);
        match one.and_then(|one| one.reason) {
            None => return Ok(text),
            found => reason = found,
        }
    }
    let reason = json!(reason);
    let reason = reason.as_str().unwrap_or("unknown");
    Err(RpcError::unsupported(format!("the message would not trigger the agent: {reason}")))
}

fn run_for(dispatch: &[Dispatch], agent: EntityId) -> Option<RunId> {
    dispatch.iter().find(|one| one.agent_id == agent)?.run_id
}

/// Answers the form for which a task waits.
async fn answer_task(
    call: &AgentCall,
    message: ClientMessage,
) -> Result<(RunId, TurnSession), RpcError> {
    let (run, space) = run_of_task(call, &message.task_id).await?;
    if !message.context_id.is_empty() && message.context_id != space.to_string() {
        return Err(RpcError::invalid("message.contextId: the task is in another context"));
    }
    let Run { id, status, .. } = run;
    if status != RunStatus::WaitingTool {
        let detail = "the task waits for no answer; a message without taskId begins a new task";
        return Err(RpcError::unsupported(detail));
    }
    let (data, named) = answer_in(&message.parts)?;
    let mut setup = TurnSetup::open(&call.api, call.caller, &space.to_string()).await?;
    let is_form = |message: &Message| is_open_form(message) && message.run_id == Some(id);
    setup.find(is_form).await?;
    // The same order as in the task, which shows the client the first one.
    let caller = Asked::in_space(call.caller, &setup.space);
    let asked = setup.messages().filter(|message| is_form(message)).filter_map(AskedCall::of);
    let shown = asked.filter(|form| caller.by(form)).map(|form| form.call_id);
    let form = shown.into_iter().find(|call| named.is_none_or(|named| named == *call));
    let form = form.ok_or_else(|| RpcError::unsupported("the task's form is closed"))?;
    setup.answer(&FormAnswer::new(form, data)).await?;
    Ok((id, setup.follow_run(id).await?))
}

/// The answer to a form: the part with data. It may name the form's call.
fn answer_in(parts: &[Value]) -> Result<(&Value, Option<CallId>), RpcError> {
    let has_file = |part: &Value| part.get("raw").is_some() || part.get("url").is_some();
    if parts.iter().any(has_file) {
        let detail = "message.parts: expected no file: an answer to a form is a part with data";
        return Err(RpcError::content(detail));
    }
    let part = parts.iter().find_map(|part| Some((part.get("data")?, &part["metadata"]["callId"])));
    let (data, call) = part.ok_or_else(|| {
        RpcError::invalid("message.parts: expected a part with data, the answer to the task's form")
    })?;
    let call =
        call.as_str().map(str::parse).transpose().map_err(|error| {
            RpcError::invalid(format!("message.parts: metadata.callId: {error}"))
        })?;
    Ok((data, call))
}
