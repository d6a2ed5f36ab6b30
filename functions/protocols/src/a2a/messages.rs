//! Messages of a client to an agent. A new message starts a task; a message with a task answers the
//! form for which the task waits, or decides the call that waits for approval.

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_client::{FileUpload, NewMessage, messages_path};
use smartspace_domain::{
    dispatch::Dispatch,
    events::AskedCall,
    idempotency::IdempotencyKey,
    ids::{CallId, EntityId, RunId, SpaceId},
    limits::KEY_CHARS,
    messages::Message,
    runs::{Run, RunStatus},
};

use crate::{
    a2a::{
        AgentCall,
        contexts::{discard_unused, new_context},
        parts::{ClientPart, PartContent, content_of},
        request::{ClientMessage, SendMessage},
        rpc::RpcError,
        tasks::run_of_task,
        text_answers::{answer_of_text, choices_of},
    },
    turn::{Asked, FormAnswer, Post, TurnSession, TurnSetup, is_open_form, key_of},
};

/// The beginning of the keys of messages.
const PROTOCOL: &str = "a2a";

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
    request.check()?;
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
    let (text, files) = content_of(message.parts()?);
    let key = message_key(&message.message_id)?;
    let new = NewMessage { text: &text, files: &files, ..NewMessage::default() };
    new.check().map_err(|reason| RpcError::invalid(format!("message: {reason}")))?;
    let post = Post { key, text, files, page: None };
    if !message.context_id.is_empty() {
        return Box::pin(post_in(call, &message.context_id, post)).await;
    }
    let space = new_context(call, &post.key).await?;
    let started = Box::pin(post_in(call, &space.to_string(), post)).await;
    if started.is_err() {
        discard_unused(call, space).await;
    }
    started
}

/// The idempotency key of a message.
fn message_key(id: &str) -> Result<IdempotencyKey, RpcError> {
    key_of(PROTOCOL, id).map_err(|_| {
        let most = KEY_CHARS - PROTOCOL.len() - 1;
        let detail = format!("expected at most {most} printable ASCII characters");
        RpcError::invalid(format!("message.messageId: {detail}"))
    })
}

/// Posts a message in a context.
async fn post_in(
    call: &AgentCall,
    space: &str,
    post: Post,
) -> Result<(RunId, TurnSession), RpcError> {
    let mut setup = TurnSetup::open(&call.api, call.caller, space).await?;
    if !setup.space.members.iter().any(|member| member.id == call.agent.id) {
        return Err(RpcError::invalid("message.contextId: the agent is not in this space"));
    }
    let Post { key, text, files, page } = post;
    let is_same = |message: &Message| {
        message.sender.id == call.caller && message.client_key.as_deref() == Some(key.as_str())
    };
    let text = match setup.find(is_same).await? {
        // A repeated message gets its task again, even if it would trigger the agent no more.
        Some(known) => text_as_posted(call, &known, text),
        None => triggering_text(call, setup.space.id, text, &files).await?,
    };
    let message = setup.post(&Post { key, text, files, page }).await?;
    let dispatch = setup.dispatch_of(message).await?;
    let run = run_for(&dispatch, call.agent.id).ok_or_else(|| {
        RpcError::unsupported("the message is posted, but it did not trigger the agent")
    })?;
    Ok((run, setup.follow_run(run).await?))
}

/// The text with a mention of the agent.
fn mentioning(call: &AgentCall, text: &str) -> String {
    format!("@{} {text}", call.agent.name).trim_end().to_owned()
}

/// The text of a repeated message, with a mention of the agent if it was posted with one.
fn text_as_posted(call: &AgentCall, known: &Message, text: String) -> String {
    let mention = mentioning(call, &text);
    if known.text() == mention { mention } else { text }
}

/// The text, or the text with a mention of the agent if only that triggers the agent.
async fn triggering_text(
    call: &AgentCall,
    space: SpaceId,
    text: String,
    files: &[FileUpload],
) -> Result<String, RpcError> {
    let mut reason = None;
    let mention = mentioning(call, &text);
    // A message with files may have no text. Then only the mention is tried: the preview of an
    // empty text would be refused.
    let is_empty = !files.is_empty() && text.is_empty();
    let texts = [(!is_empty).then_some(text), Some(mention)];
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
    let answer = ClientAnswer::of(message.parts()?)?;
    let mut setup = TurnSetup::open(&call.api, call.caller, &space.to_string()).await?;
    let is_form = |message: &Message| is_open_form(message) && message.run_id == Some(id);
    setup.find(is_form).await?;
    // The same order as in the task, which shows the client the first one.
    let caller = Asked::in_space(call.caller, &setup.space);
    let asked = setup.messages().filter(|message| is_form(message)).filter_map(AskedCall::of);
    let named = |form: &AskedCall| answer.call.is_none_or(|call| call == form.call_id);
    let form = asked.filter(|form| caller.by(form)).find(named);
    let form = form.ok_or_else(|| RpcError::unsupported("the task's form is closed"))?;
    setup.answer(&FormAnswer::new(form.call_id, &answer.value_for(&form)?)).await?;
    Ok((id, setup.follow_run(id).await?))
}

/// A client's answer to a form.
#[derive(Debug)]
struct ClientAnswer {
    given: GivenAnswer,
    /// The form's call, if the answer names one.
    call: Option<CallId>,
}

#[derive(Debug)]
enum GivenAnswer {
    Data(Value),
    Text(String),
}

impl ClientAnswer {
    /// The answer in the parts of a message: that with data, or else all texts.
    fn of(parts: Vec<ClientPart>) -> Result<Self, RpcError> {
        let mut texts = Vec::new();
        let mut call = None;
        for ClientPart { content, call: named } in parts {
            let named = named.as_deref().map(str::parse::<CallId>).transpose();
            let named = named.map_err(|error| {
                RpcError::invalid(format!("message.parts: metadata.callId: {error}"))
            })?;
            match content {
                PartContent::Data(data) => {
                    return Ok(Self { given: GivenAnswer::Data(data), call: named });
                }
                PartContent::Text(text) => {
                    texts.push(text);
                    call = call.or(named);
                }
                PartContent::File(_) => {
                    let detail = "message.parts: expected no file: an answer to a form is a part \
                                  with data or text";
                    return Err(RpcError::content(detail));
                }
            }
        }
        Ok(Self { given: GivenAnswer::Text(texts.join("\n")), call })
    }

    /// The answer as the form takes it.
    fn value_for(&self, form: &AskedCall) -> Result<Value, RpcError> {
        match &self.given {
            GivenAnswer::Data(data) => Ok(data.clone()),
            GivenAnswer::Text(text) => answer_of_text(form, text).ok_or_else(|| {
                let expected = "message.parts: expected a part with data, the answer to the \
                                task's form";
                RpcError::invalid(match choices_of(form) {
                    Some(choices) => format!("{expected}, or one of these texts: {choices}"),
                    None => expected.to_owned(),
                })
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::parts::parts_of;

    fn answer(parts: &Value) -> Result<ClientAnswer, Value> {
        let parts = parts_of(parts.as_array().unwrap()).map_err(|error| error.json())?;
        ClientAnswer::of(parts).map_err(|error| error.json())
    }

    #[test]
    fn an_id_that_is_no_key_is_refused_with_the_length() {
        let most = "x".repeat(251);
        assert_eq!(message_key(&most).unwrap().as_str(), format!("a2a:{most}"));
        for id in [format!("{most}x"), "ä".to_owned()] {
            let error = message_key(&id).unwrap_err().json();
            let expected = "message.messageId: expected at most 251 printable ASCII characters";
            assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!(expected)));
        }
    }

    #[test]
    fn an_answer_is_data_or_else_text() {
        let data = answer(&json!([{"text": "Yes"}, {"data": {"choice": "Approve"}}])).unwrap();
        assert!(matches!(data.given, GivenAnswer::Data(data) if data["choice"] == "Approve"));
        let text = answer(&json!([{"text": "Yes"}, {"text": "please"}])).unwrap();
        assert!(matches!(text.given, GivenAnswer::Text(text) if text == "Yes\nplease"));
        let file = json!([{"raw": "SGk=", "mediaType": "text/plain"}]);
        assert_eq!(answer(&file).unwrap_err()["code"], -32005);
        let named = json!([{"text": "Yes", "metadata": {"callId": "nonsense"}}]);
        assert_eq!(answer(&named).unwrap_err()["code"], -32602);
    }
}
