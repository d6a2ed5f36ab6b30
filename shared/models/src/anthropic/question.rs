//! The body of a messages request.

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    calls,
    estimate::as_text,
    port::{CachePoint, Message, Request, ToolCall, ToolResult, ToolSpec},
};

/// Anthropic's hottest; ours goes up to 2.
const HOTTEST: f32 = 1.0;

/// What is sent; fields that are not set are left out.
#[derive(Serialize)]
pub(super) struct Question<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Turn>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

/// All that one side says before the other speaks again.
#[derive(Serialize)]
struct Turn {
    role: Role,
    content: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

impl<'a> Question<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        Self {
            model: &request.model.name,
            max_tokens: request.model.max_output_tokens,
            system: system(&request.system),
            messages: turns(&request.messages, &request.cache_points),
            tools: request.tools.iter().map(tool).collect(),
            stream: true,
            temperature: request.model.temperature.map(|temperature| temperature.min(HOTTEST)),
        }
    }
}

/// What stands up to the mark is kept for the next request: the tools, which the provider reads first, and all of this.
fn system(parts: &[String]) -> Vec<Value> {
    let mut blocks: Vec<Value> = parts.iter().filter_map(|part| text(part)).collect();
    if let Some(last) = blocks.last_mut() {
        mark(last);
    }
    blocks
}

/// Up to here the provider caches.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// The two sides take turns, and the results of a turn's calls come first in the next one.
fn turns(messages: &[Message], cache_points: &[CachePoint]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let marked = |(index, message): (usize, &Message)| {
        let (role, mut blocks) = said(message);
        for point in cache_points.iter().filter(|point| point.message == index) {
            if let Some(Some(block)) = blocks.get_mut(point.block) {
                mark(block);
            }
        }
        (role, blocks.into_iter().flatten().collect::<Vec<_>>())
    };
    for (role, content) in messages.iter().enumerate().map(marked).filter(|(_, content)| !content.is_empty()) {
        match turns.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            _ => turns.push(Turn { role, content }),
        }
    }
    for turn in &mut turns {
        turn.content.sort_by_key(|block| block["type"] != "tool_result");
    }
    turns
}

/// The blocks of a message; none in the place of one that would be refused.
fn said(message: &Message) -> (Role, Vec<Option<Value>>) {
    match message {
        Message::User { blocks } => (Role::User, blocks.iter().map(|block| text(block)).collect()),
        Message::Assistant { text: thought, calls } => {
            (Role::Assistant, [text(thought)].into_iter().chain(calls.iter().map(call).map(Some)).collect())
        }
        Message::ToolResults { results } => (Role::User, results.iter().map(result).map(Some).collect()),
        Message::System { text: told } => (Role::User, vec![text(&format!("SYSTEM: {told}"))]),
    }
}

/// A block without a visible character is refused.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn call(call: &ToolCall) -> Value {
    json!({"type": "tool_use", "id": call.call_id, "name": calls::name(&call.name), "input": calls::input(&call.input)})
}

fn result(result: &ToolResult) -> Value {
    json!({"type": "tool_result", "tool_use_id": result.call_id, "content": as_text(&result.output)})
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    Tool { name: &tool.name, description: &tool.description, input_schema: tool.input_schema() }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::agents::ModelConfig;

    use super::*;
    use crate::samples::{call_id, request};

    fn body(request: &Request) -> Value {
        serde_json::from_str(&serde_json::to_string(&Question::new(request)).unwrap()).unwrap()
    }

    #[test]
    fn a_short_question() {
        let expected = json!({
            "model": "gpt-x",
            "max_tokens": 4096,
            "system": [{"type": "text", "text": "You are Ada.", "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
            "tools": [{"name": "send_message", "description": "Speaks.",
                "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}}}],
            "stream": true,
        });
        assert_eq!(body(&request()), expected);
    }

    #[test]
    fn a_whole_conversation() {
        let call = |index, name: &str, input: &str| ToolCall { call_id: call_id(index), name: name.to_owned(), input: input.to_owned() };
        let result = |index, output| ToolResult { call_id: call_id(index), output };
        let conversation = Request {
            model: ModelConfig { temperature: Some(0.7), ..request().model },
            system: vec!["One.".to_owned(), "Two.".to_owned(), " ".to_owned()],
            messages: vec![
                Message::User { blocks: vec!["a".to_owned(), String::new(), "b".to_owned()] },
                Message::Assistant { text: "Hm.".to_owned(), calls: vec![call(0, "f", r#"{"a": 1}"#), call(1, "g", "")] },
                Message::ToolResults { results: vec![result(0, json!("as it is")), result(1, json!({"ok": true}))] },
                Message::System { text: "Time is short.".to_owned() },
                Message::Assistant { text: "\n".to_owned(), calls: vec![call(2, "a b.ü", r#"{"a"#), call(3, "", "[1]")] },
                Message::ToolResults { results: vec![result(2, json!({"error": "no JSON"})), result(3, Value::Null)] },
            ],
            tools: [ToolSpec::new("f", "", &json!({}))].into(),
            cache_key: String::new(),
            cache_points: vec![CachePoint { message: 0, block: 0 }, CachePoint { message: 5, block: 1 }],
        };
        let text = |text: &str| json!({"type": "text", "text": text});
        let used = |index, name: &str, input: Value| json!({"type": "tool_use", "id": call_id(index), "name": name, "input": input});
        let gave = |index, content: &str| json!({"type": "tool_result", "tool_use_id": call_id(index), "content": content});
        let expected = json!({
            "model": "gpt-x",
            "max_tokens": 4096,
            "system": [text("One."), {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, text("b")]},
                {"role": "assistant", "content": [text("Hm."), used(0, "f", json!({"a": 1})), used(1, "g", json!({}))]},
                {"role": "user", "content": [gave(0, "as it is"), gave(1, r#"{"ok":true}"#), text("SYSTEM: Time is short.")]},
                {"role": "assistant", "content": [used(2, "a_b__", json!({"unreadable": "{\"a"})), used(3, "_", json!({"unreadable": "[1]"}))]},
                {"role": "user", "content": [gave(2, r#"{"error":"no JSON"}"#), {"type": "tool_result", "tool_use_id": call_id(3), "content": "null", "cache_control": {"type": "ephemeral"}}]},
            ],
            "tools": [{"name": "f", "description": "", "input_schema": {"type": "object", "properties": {}}}],
            "stream": true,
            "temperature": 0.7,
        });
        assert_eq!(body(&conversation), expected);
    }

    #[test]
    fn the_sides_take_turns_and_results_come_first() {
        let result = Message::ToolResults { results: vec![ToolResult { call_id: call_id(0), output: json!("r") }] };
        let user = |text: &str| Message::User { blocks: vec![text.to_owned()] };
        let silent = Message::Assistant { text: String::new(), calls: vec![] };
        let told = Message::System { text: "t".to_owned() };
        let calls = Message::Assistant {
            text: String::new(),
            calls: vec![ToolCall { call_id: call_id(0), name: "f".to_owned(), input: String::new() }],
        };
        let turns = body(&Request { messages: vec![user("a"), silent, user("b"), calls, told, result], ..request() });
        let text = |text: &str| json!({"type": "text", "text": text});
        let expected = json!([
            {"role": "user", "content": [text("a"), text("b")]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": call_id(0), "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id(0), "content": "r"}, text("SYSTEM: t")]},
        ]);
        assert_eq!(turns["messages"], expected);
    }

    #[test]
    fn what_is_not_there_is_left_out_and_what_is_too_hot_is_cooled() {
        let hot = ModelConfig { temperature: Some(1.5), ..request().model };
        let bare = Request { system: vec![], tools: [].into(), model: hot, ..request() };
        let expected = json!({"model": "gpt-x", "max_tokens": 4096, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
            "stream": true, "temperature": 1.0});
        assert_eq!(body(&bare), expected);
    }
}
