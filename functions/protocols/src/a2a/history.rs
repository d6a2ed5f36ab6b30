//! Writes what people and the agent said to each other in a task: the messages that it answers, its
//! questions, and their answers. What the agent says on its own is an artifact.

use serde_json::{Map, Value, json};
use smartspace_client::file_links;
use smartspace_domain::{
    events::AskedCall,
    ids::CallId,
    messages::{Message, ToolPart},
    steps::CallStatus,
};

use crate::{
    a2a::{
        AgentCall,
        task_json::{form_message, parts_of},
        task_runs::{TaskMessages, TaskRun},
        text_answers::answer_of_text,
    },
    turn::card_of,
};

/// The messages of a task, oldest first. The question that it `asks` now is in its status instead.
pub(super) async fn history_of(
    call: &AgentCall,
    task: &TaskRun,
    messages: &TaskMessages,
    asks: Option<CallId>,
) -> Vec<Value> {
    let mut history = Vec::new();
    for message in &messages.items {
        if task.is_about(message) && message.deleted.is_none() {
            let files = file_links(&call.api, message).await;
            let id = id_for_sender(call, message);
            history.push(user_message(&id, task, parts_of(message, &files)));
        } else if message.run_id == Some(task.answering.id)
            && let Some(card) = card_of(message)
            && let Some(form) = AskedCall::of(message)
            && Some(form.call_id) != asks
        {
            history.push(form_message(&form, task.space, task.run.id));
            history.extend(answers_of(&form, card, task));
        }
    }
    history
}

/// The client's own id of a message, if the caller posted it with this protocol.
fn id_for_sender(call: &AgentCall, message: &Message) -> String {
    let own = message.client_key.as_deref().filter(|_| message.sender.id == call.caller);
    let own = own.and_then(|key| key.strip_prefix("a2a:"));
    own.map_or_else(|| message.id.to_string(), str::to_owned)
}

/// What people answered to a form, or decided about a call.
fn answers_of(form: &AskedCall, card: &ToolPart, task: &TaskRun) -> Vec<Value> {
    let id = form.call_id;
    if let Some(approval) = &form.approval {
        let decisions = approval.decisions.iter().enumerate();
        let decisions = decisions.map(|(index, decision)| {
            let parts = vec![json!({"data": {"action": decision.action}})];
            user_message(&format!("{id}-decision-{index}"), task, parts)
        });
        return decisions.collect();
    }
    let output = card.output.as_ref().filter(|_| card.status == CallStatus::Completed);
    let answer = output.map(|output| {
        let text = text_of_answer(form, output).map(|text| json!({"text": text}));
        let parts = text.into_iter().chain([json!({"data": output})]).collect();
        user_message(&format!("{id}-answer"), task, parts)
    });
    answer.into_iter().collect()
}

/// The text that gives the same answer as this output.
fn text_of_answer<'a>(form: &AskedCall, output: &'a Value) -> Option<&'a str> {
    let whole = output.as_str().into_iter();
    let fields = output.as_object().into_iter().flat_map(Map::values);
    whole
        .chain(fields.filter_map(Value::as_str))
        .find(|text| answer_of_text(form, text).as_ref() == Some(output))
}

fn user_message(id: &str, task: &TaskRun, parts: Vec<Value>) -> Value {
    json!({
        "messageId": id,
        "contextId": task.space,
        "taskId": task.run.id,
        "role": "ROLE_USER",
        "parts": parts,
    })
}
