//! The body of a chat completions request.

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    calls,
    estimate::as_text,
    port::{Message, Request, ToolCall, ToolSpec},
};

/// What is sent; fields that are not set are left out.
#[derive(Serialize)]
pub(super) struct Question<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    stream_options: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    /// `OpenAI`'s newer models refuse `max_tokens`; most other servers know nothing else, and would leave the answer unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    /// Others may refuse a field that they do not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

impl<'a> Question<'a> {
    /// `native`: for `OpenAI`'s own servers.
    pub(super) fn new(request: &'a Request, native: bool) -> Self {
        let most = Some(request.model.max_output_tokens);
        Self {
            model: &request.model.name,
            messages: system(&request.system).into_iter().chain(request.messages.iter().flat_map(message)).collect(),
            tools: request.tools.iter().map(tool).collect(),
            stream: true,
            stream_options: json!({"include_usage": true}),
            temperature: request.model.temperature,
            max_completion_tokens: most.filter(|_| native),
            max_tokens: most.filter(|_| !native),
            prompt_cache_key: Some(request.cache_key.as_str()).filter(|key| native && !key.is_empty()),
        }
    }
}

/// One message with one text: every server takes that, while some take no parts, and some no second system message at the beginning.
fn system(parts: &[String]) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"role": "system", "content": parts.join("\n\n")}))
}

fn message(message: &Message) -> Vec<Value> {
    match message {
        Message::User { blocks } => {
            let part = |block: &String| json!({"type": "text", "text": block});
            let content = match blocks.as_slice() {
                [block] => json!(block),
                blocks => blocks.iter().map(part).collect(),
            };
            vec![json!({"role": "user", "content": content})]
        }
        Message::Assistant { text, calls } if calls.is_empty() => vec![json!({"role": "assistant", "content": text})],
        Message::Assistant { text, calls } => {
            let content = Some(text).filter(|text| !text.is_empty());
            vec![json!({"role": "assistant", "content": content, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})]
        }
        Message::ToolResults { results } => {
            let result = |result: &crate::port::ToolResult| json!({"role": "tool", "tool_call_id": result.call_id, "content": as_text(&result.output)});
            results.iter().map(result).collect()
        }
        Message::System { text } => vec![json!({"role": "system", "content": text})],
    }
}

fn call(call: &ToolCall) -> Value {
    json!({"id": call.call_id, "type": "function", "function": {"name": calls::name(&call.name), "arguments": arguments(&call.input)}})
}

/// As it was written where that can be: servers that fill the arguments into a prompt template fail for good on a text that is no JSON object.
fn arguments(input: &str) -> String {
    let object = smartspace_domain::json::parse(input).is_ok_and(|input| input.is_object());
    if object { input.to_owned() } else { Value::Object(calls::input(input)).to_string() }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    let function = Function { name: &tool.name, description: &tool.description, parameters: tool.input_schema() };
    Tool { r#type: "function", function }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::agents::ModelConfig;

    use super::*;
    use crate::{
        port::ToolResult,
        samples::{call_id, request},
    };

    fn body(request: &Request, native: bool) -> Value {
        serde_json::from_str(&serde_json::to_string(&Question::new(request, native)).unwrap()).unwrap()
    }

    #[test]
    fn a_short_question_to_openai_and_to_another() {
        let mut expected = json!({
            "model": "gpt-x",
            "messages": [{"role": "system", "content": "You are Ada."}, {"role": "user", "content": "Hello"}],
            "tools": [{"type": "function", "function": {"name": "send_message", "description": "Speaks.",
                "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_completion_tokens": 4096,
            "prompt_cache_key": "key-1",
        });
        assert_eq!(body(&request(), true), expected);
        let fields = expected.as_object_mut().unwrap();
        fields.remove("prompt_cache_key");
        fields.remove("max_completion_tokens");
        fields.insert("max_tokens".to_owned(), json!(4096));
        assert_eq!(body(&request(), false), expected);
    }

    #[test]
    fn a_whole_conversation() {
        let call = |index, name: &str, input: &str| ToolCall { call_id: call_id(index), name: name.to_owned(), input: input.to_owned() };
        let result = |index, output| ToolResult { call_id: call_id(index), output };
        let conversation = Request {
            model: ModelConfig { temperature: Some(0.7), ..request().model },
            system: vec!["One.".to_owned(), "Two.".to_owned()],
            messages: vec![
                Message::User { blocks: vec!["a".to_owned(), "b".to_owned()] },
                Message::Assistant { text: "Hm.".to_owned(), calls: vec![call(0, "f", r#"{"a": 1}"#), call(1, "g", "")] },
                Message::ToolResults { results: vec![result(0, json!("as it is")), result(1, json!({"ok": true}))] },
                Message::System { text: "Time is short.".to_owned() },
                Message::Assistant { text: String::new(), calls: vec![call(2, "f", r#"{"a"#), call(3, "f", "[1]")] },
                Message::ToolResults { results: vec![result(2, json!({"error": "no JSON"})), result(3, Value::Null)] },
                Message::Assistant { text: "Done.".to_owned(), calls: vec![] },
            ],
            tools: [ToolSpec::new("f", "", &json!({}))].into(),
            cache_key: String::new(),
            cache_points: vec![],
        };
        let function = |index, name: &str, arguments: &str| json!({"id": call_id(index), "type": "function", "function": {"name": name, "arguments": arguments}});
        let expected = json!({
            "model": "gpt-x",
            "messages": [
                {"role": "system", "content": "One.\n\nTwo."},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                {"role": "assistant", "content": "Hm.", "tool_calls": [function(0, "f", r#"{"a": 1}"#), function(1, "g", "{}")]},
                {"role": "tool", "tool_call_id": call_id(0), "content": "as it is"},
                {"role": "tool", "tool_call_id": call_id(1), "content": r#"{"ok":true}"#},
                {"role": "system", "content": "Time is short."},
                {"role": "assistant", "content": null,
                    "tool_calls": [function(2, "f", r#"{"unreadable":"{\"a"}"#), function(3, "f", r#"{"unreadable":"[1]"}"#)]},
                {"role": "tool", "tool_call_id": call_id(2), "content": r#"{"error":"no JSON"}"#},
                {"role": "tool", "tool_call_id": call_id(3), "content": "null"},
                {"role": "assistant", "content": "Done."},
            ],
            "tools": [{"type": "function", "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}}}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "temperature": 0.7,
            "max_completion_tokens": 4096,
        });
        assert_eq!(body(&conversation, true), expected);
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        let bare = Request { system: vec![], tools: [].into(), ..request() };
        let expected = json!({"model": "gpt-x", "messages": [{"role": "user", "content": "Hello"}], "stream": true,
            "stream_options": {"include_usage": true}, "max_tokens": 4096});
        assert_eq!(body(&bare, false), expected);
    }
}
