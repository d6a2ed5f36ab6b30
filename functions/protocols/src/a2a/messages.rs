//! Messages of a client to an agent: a new one begins a task, and one with a task answers its form.

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::FILES_OF_MESSAGE,
    dispatch::Dispatch,
    ids::{EntityId, RunId, SpaceId},
    messages::Message,
    runs::{Run, RunStatus},
};

use crate::{
    a2a::{Caller, rpc::RpcError, tasks::run_of_task},
    api_client::messages_path,
    conversation::{Answer, Conversation, Opening, Post, is_open_form, key_of},
    files::SentFile,
    narration::card_of,
    posting::NewMessage,
};

/// The parameters of `SendMessage` and `SendStreamingMessage`.
#[derive(Debug, Deserialize)]
pub(super) struct SendMessage {
    message: SentMessage,
    #[serde(default)]
    pub(super) configuration: Configuration,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Configuration {
    pub(super) return_immediately: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentMessage {
    message_id: String,
    #[serde(default)]
    context_id: String,
    #[serde(default)]
    task_id: String,
    #[serde(default)]
    parts: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct Made {
    id: SpaceId,
}

/// The answer to a preview.
#[derive(Debug, Deserialize)]
struct Preview {
    dispatch: Vec<Dispatch>,
}

/// Sends a message. Returns the run that it woke or whose form it answers, and what follows.
pub(super) async fn send(
    caller: &Caller,
    sent: SendMessage,
) -> Result<(RunId, Conversation), RpcError> {
    let message = sent.message;
    if message.task_id.is_empty() {
        begin(caller, message).await
    } else {
        go_on(caller, message).await
    }
}

/// Posts a message that wakes the agent.
async fn begin(caller: &Caller, sent: SentMessage) -> Result<(RunId, Conversation), RpcError> {
    let (text, files) = content_of(&sent.parts)?;
    let key = key_of("a2a", &sent.message_id)
        .map_err(|_| RpcError::invalid("message.messageId: expected printable ASCII characters"))?;
    let new = NewMessage { text: &text, files: &files, ..NewMessage::default() };
    // Before a space is made for it.
    new.check().map_err(|what| RpcError::invalid(format!("message: {what}")))?;
    let space = if sent.context_id.is_empty() {
        let body = json!({"name": caller.agent.name, "members": [caller.agent.id]});
        let made: Made = caller.visitor.post("/v1/spaces", &body, Some(key.as_str())).await?;
        made.id.to_string()
    } else {
        sent.context_id
    };
    let mut opening = Opening::of(&caller.visitor, caller.me, &space).await?;
    if !opening.space.members.iter().any(|member| member.id == caller.agent.id) {
        return Err(RpcError::invalid("message.contextId: the agent is not in this space"));
    }
    let text = waking_text(caller, opening.space.id, text, !files.is_empty()).await?;
    let message = opening.post(&Post { key, text, files }).await?;
    let woken = opening.dispatch_of(message).await?;
    let run = run_for(&woken, caller.agent.id).ok_or_else(|| {
        RpcError::unsupported("the message is posted, but it did not wake the agent")
    })?;
    Ok((run, opening.follow_run(run).await?))
}

/// The text, or the text with a mention of the agent, if only that wakes it.
async fn waking_text(
    caller: &Caller,
    space: SpaceId,
    text: String,
    has_files: bool,
) -> Result<String, RpcError> {
    let mut reason = None;
    let named = format!("@{} {text}", caller.agent.name);
    // A message with files alone may have no text.
    let is_left_out = has_files && text.is_empty();
    let texts = [(!is_left_out).then_some(text), Some(named.trim_end().to_owned())];
    for text in texts.into_iter().flatten() {
        let path = format!("{}/preview", messages_path(space));
        let preview: Preview = caller.visitor.post(&path, &json!({"text": text}), None).await?;
        let one = preview.dispatch.into_iter().find(|one| one.agent_id == caller.agent.id);
        match one.and_then(|one| one.reason) {
            None => return Ok(text),
            found => reason = found,
        }
    }
    let reason = json!(reason);
    let reason = reason.as_str().unwrap_or("unknown");
    Err(RpcError::unsupported(format!("the message would not wake the agent: {reason}")))
}

fn run_for(dispatch: &[Dispatch], agent: EntityId) -> Option<RunId> {
    dispatch.iter().find(|one| one.agent_id == agent)?.run_id
}

/// Answers the form for which a task waits.
async fn go_on(caller: &Caller, sent: SentMessage) -> Result<(RunId, Conversation), RpcError> {
    let (run, space) = run_of_task(caller, &sent.task_id).await?;
    if !sent.context_id.is_empty() && sent.context_id != space.to_string() {
        return Err(RpcError::invalid("message.contextId: the task is in another context"));
    }
    let Run { id, status, .. } = run;
    if status != RunStatus::WaitingTool {
        let detail = "the task waits for no answer; a message without taskId begins a new task";
        return Err(RpcError::unsupported(detail));
    }
    let has_file = |part: &Value| part.get("raw").is_some() || part.get("url").is_some();
    if sent.parts.iter().any(has_file) {
        let detail = "message.parts: expected no file: an answer to a form is a part with data";
        return Err(RpcError::content(detail));
    }
    let Some(data) = sent.parts.iter().find_map(|part| part.get("data")) else {
        let detail = "message.parts: expected a part with data, the answer to the task's form";
        return Err(RpcError::invalid(detail));
    };
    let mut opening = Opening::of(&caller.visitor, caller.me, &space.to_string()).await?;
    let asks = |message: &Message| is_open_form(message) && message.run_id == Some(id);
    let form = opening.find(asks).await?;
    let call = form.as_ref().and_then(card_of).map(|card| card.call_id);
    let call = call.ok_or_else(|| RpcError::unsupported("the task's form is closed"))?;
    opening.answer(&Answer::new(call, data)).await?;
    Ok((id, opening.follow_run(id).await?))
}

/// The text and the files of a message. Data is written as JSON.
fn content_of(parts: &[Value]) -> Result<(String, Vec<SentFile>), RpcError> {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        if let Some(text) = part["text"].as_str() {
            texts.push(text.to_owned());
        } else if let Some(data) = part.get("data") {
            texts.push(data.to_string());
        } else if files.len() == FILES_OF_MESSAGE {
            let detail = format!("message.parts: expected at most {FILES_OF_MESSAGE} files");
            return Err(RpcError::content(detail));
        } else {
            files.push(file_of(part)?);
        }
    }
    if texts.is_empty() && files.is_empty() {
        return Err(RpcError::invalid("message.parts: expected a part with text, data or a file"));
    }
    Ok((texts.join("\n"), files))
}

/// A part with a file, which is in the request.
fn file_of(part: &Value) -> Result<SentFile, RpcError> {
    let name = part["filename"].as_str();
    let file = if let Some(raw) = part["raw"].as_str() {
        SentFile::of_base64(name, part["mediaType"].as_str().unwrap_or_default(), raw)
    } else {
        SentFile::of_data_url(name, part["url"].as_str().unwrap_or_default())
    };
    file.map_err(|what| RpcError::content(format!("message.parts: a file: {what}")))
}
