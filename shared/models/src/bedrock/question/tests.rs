use smartspace_domain::agents::ModelConfig;

use super::*;
use crate::samples::{call_id, request};

const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA: &str = "amazon.nova-pro-v1:0";
const LLAMA: &str = "us.meta.llama4-maverick-17b-instruct-v1:0";

fn body(request: &Request) -> Value {
    serde_json::from_str(&serde_json::to_string(&Question::new(request)).unwrap()).unwrap()
}

fn to(model: &str) -> ModelConfig {
    ModelConfig { name: model.to_owned(), ..request().model }
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn mark() -> Value {
    json!({"cachePoint": {"type": "default"}})
}

fn used(index: u32, name: &str, input: Value) -> Value {
    json!({"toolUse": {"toolUseId": call_id(index), "name": name, "input": input}})
}

fn gave(index: u32, content: &str) -> Value {
    json!({"toolResult": {"toolUseId": call_id(index), "content": [{"text": content}]}})
}

/// Two steps with all that can stand in them, marked at the settled history and at the end.
fn conversation(model: &str) -> Request {
    let call = |index, name: &str, input: &str| ToolCall { call_id: call_id(index), name: name.to_owned(), input: input.to_owned() };
    let result = |index, output| ToolResult { call_id: call_id(index), output };
    Request {
        model: ModelConfig { temperature: Some(0.5), ..to(model) },
        system: vec!["One.".to_owned(), "Two.".to_owned(), " ".to_owned()],
        messages: vec![
            Message::User { blocks: ["a", "b", "", "c"].map(str::to_owned).into() },
            Message::Assistant { text: "Hm.".to_owned(), calls: vec![call(0, "f", r#"{"z": 1, "a": 2}"#), call(1, "g", "")] },
            Message::ToolResults { results: vec![result(0, json!("as it is")), result(1, json!({"ok": true}))] },
            Message::System { text: "Time is short.".to_owned() },
            Message::Assistant { text: "\n".to_owned(), calls: vec![call(2, "a b.ü", r#"{"a"#), call(3, "", "[1]")] },
            Message::ToolResults { results: vec![result(2, json!({"error": "no JSON"})), result(3, json!(""))] },
        ],
        tools: [
            ToolSpec::new("f", "", &json!({})),
            ToolSpec::new("g", "Does.", &json!({"type": "object", "properties": {"z": {}, "a": {}}})),
        ]
        .into(),
        cache_key: "key".to_owned(),
        cache_points: vec![CachePoint { message: 0, block: 1 }, CachePoint { message: 5, block: 1 }],
    }
}

/// What is the same for all models.
fn around(system: Value, messages: Value) -> Value {
    json!({
        "system": system,
        "messages": messages,
        "toolConfig": {"tools": [
            {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object", "properties": {}}}}},
            {"toolSpec": {"name": "g", "description": "Does.", "inputSchema": {"json": {"type": "object", "properties": {"z": {}, "a": {}}}}}},
        ]},
        "inferenceConfig": {"maxTokens": 4096, "temperature": 0.5},
    })
}

#[test]
fn a_short_question_is_the_same_bytes_each_time() {
    let expected = concat!(
        r#"{"system":[{"text":"You are Ada."},{"cachePoint":{"type":"default"}}],"#,
        r#""messages":[{"role":"user","content":[{"text":"Hello"}]}],"#,
        r#""toolConfig":{"tools":[{"toolSpec":{"name":"send_message","description":"Speaks.","#,
        r#""inputSchema":{"json":{"type":"object","properties":{"text":{"type":"string"}}}}}}]},"#,
        r#""inferenceConfig":{"maxTokens":4096}}"#,
    );
    let question = Request { model: to(CLAUDE), ..request() };
    assert_eq!(serde_json::to_string(&Question::new(&question)).unwrap(), expected);
}

#[test]
fn a_whole_conversation_with_claude() {
    let messages = json!([
        {"role": "user", "content": [text("a"), text("b"), mark(), text("c")]},
        {"role": "assistant", "content": [text("Hm."), used(0, "f", json!({"z": 1, "a": 2})), used(1, "g", json!({}))]},
        {"role": "user", "content": [gave(0, "as it is"), gave(1, r#"{"ok":true}"#), text("SYSTEM: Time is short.")]},
        {"role": "assistant", "content": [used(2, "a_b__", json!({"unreadable": "{\"a"})), used(3, "_", json!({"unreadable": "[1]"}))]},
        {"role": "user", "content": [gave(2, r#"{"error":"no JSON"}"#), gave(3, "\"\""), mark()]},
    ]);
    assert_eq!(body(&conversation(CLAUDE)), around(json!([text("One."), text("Two."), mark()]), messages));
}

#[test]
fn nova_gets_marks_behind_texts_and_no_words_behind_results() {
    let messages = json!([
        {"role": "user", "content": [text("a"), mark(), text("b"), mark(), text("c"), mark()]},
        {"role": "assistant", "content": [text("Hm."), used(0, "f", json!({"z": 1, "a": 2})), used(1, "g", json!({}))]},
        {"role": "user", "content": [gave(0, "as it is"), gave(1, "{\"ok\":true}\n\nSYSTEM: Time is short.")]},
        {"role": "assistant", "content": [used(2, "a_b__", json!({"unreadable": "{\"a"})), used(3, "_", json!({"unreadable": "[1]"}))]},
        {"role": "user", "content": [gave(2, r#"{"error":"no JSON"}"#), gave(3, "\"\"")]},
    ]);
    assert_eq!(body(&conversation(NOVA)), around(json!([text("One."), text("Two."), mark()]), messages));
}

#[test]
fn others_get_what_every_model_takes() {
    let messages = json!([
        {"role": "user", "content": [text("a"), text("b"), text("c")]},
        {"role": "assistant", "content": [used(0, "f", json!({"z": 1, "a": 2})), used(1, "g", json!({}))]},
        {"role": "user", "content": [gave(0, "as it is"), gave(1, "{\"ok\":true}\n\nSYSTEM: Time is short.")]},
        {"role": "assistant", "content": [used(2, "a_b__", json!({"unreadable": "{\"a"})), used(3, "_", json!({"unreadable": "[1]"}))]},
        {"role": "user", "content": [gave(2, r#"{"error":"no JSON"}"#), gave(3, "\"\"")]},
    ]);
    assert_eq!(body(&conversation(LLAMA)), around(json!([text("One."), text("Two.")]), messages));
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
    let thought = Message::Assistant { text: "I think.".to_owned(), calls: vec![] };
    let said = |model| {
        let messages = vec![user("a"), silent.clone(), user("b"), calls.clone(), told.clone(), result.clone(), thought.clone()];
        body(&Request { messages, model: to(model), ..request() })["messages"].clone()
    };
    let around = |last: Value| {
        json!([
            {"role": "user", "content": [text("a"), text("b")]},
            {"role": "assistant", "content": [used(0, "f", json!({}))]},
            {"role": "user", "content": last},
            {"role": "assistant", "content": [text("I think.")]},
        ])
    };
    assert_eq!(said(CLAUDE), around(json!([gave(0, "r"), text("SYSTEM: t")])));
    assert_eq!(said(LLAMA), around(json!([gave(0, "r\n\nSYSTEM: t")])));
}

#[test]
fn what_is_not_there_is_left_out_and_what_is_too_hot_is_cooled() {
    let hot = ModelConfig { temperature: Some(1.5), ..to(NOVA) };
    let bare = Request { system: vec![], tools: [].into(), model: hot, ..request() };
    let expected =
        json!({"messages": [{"role": "user", "content": [text("Hello")]}], "inferenceConfig": {"maxTokens": 4096, "temperature": 1.0}});
    assert_eq!(body(&bare), expected);
}
