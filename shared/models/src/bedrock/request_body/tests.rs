use smartspace_domain::agents::ModelConfig;

use super::*;
use crate::{
    port::{CachePoint, Message, ModelData, ToolCall, ToolSpec},
    samples::{self, call_id, made_id, request, result as sample_result},
};

const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA: &str = "amazon.nova-pro-v1:0";
const LLAMA: &str = "us.meta.llama4-maverick-17b-instruct-v1:0";

fn body(request: &Request) -> Value {
    serde_json::from_str(&serde_json::to_string(&RequestBody::new(request)).unwrap()).unwrap()
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

fn tool_use(index: u32, name: &str, input: Value) -> Value {
    json!({"toolUse": {"toolUseId": made_id(index), "name": name, "input": input}})
}

fn tool_result(index: u32, content: &str) -> Value {
    json!({"toolResult": {"toolUseId": made_id(index), "content": [{"text": content}]}})
}

fn first_call() -> Value {
    tool_use(0, "f", json!({"z": 1, "a": 2}))
}

fn second_call() -> Value {
    tool_use(1, "g", json!({}))
}

fn invalid_calls() -> Value {
    let first = tool_use(2, "a_b__", json!({"unreadable": "{\"a"}));
    let second = tool_use(3, "_", json!({"unreadable": "[1]"}));
    json!([first, second])
}

/// The results of the first two calls. The notice after them stands at the end of the last one.
fn results_with_notice() -> Value {
    let last = tool_result(1, "{\"ok\":true}\n\nSYSTEM NOTICE:\nTime is short.");
    json!([tool_result(0, "\"as it is\""), last])
}

fn error_results() -> Value {
    json!([tool_result(2, r#"{"error":"no JSON"}"#), tool_result(3, "\"\"")])
}

/// Two steps with every kind of message, with cache points in the history and at the end.
fn conversation(model: &str) -> Request {
    let call = |index, name: &str, input: &str| ToolCall {
        call_id: call_id(index),
        name: name.to_owned(),
        input: input.to_owned(),
    };
    let result = sample_result;
    Request {
        model: ModelConfig { temperature: Some(0.5), ..to(model) },
        system: vec!["One.".to_owned(), "Two.".to_owned(), " ".to_owned()],
        messages: vec![
            Message::User { blocks: ["a", "b", "", "c"].map(str::to_owned).into() },
            Message::Assistant {
                text: "Hm.".to_owned(),
                calls: vec![call(0, "f", r#"{"z": 1, "a": 2}"#), call(1, "g", "")],
                own: None,
            },
            Message::ToolResults {
                results: vec![result(0, json!("as it is")), result(1, json!({"ok": true}))],
            },
            Message::System { text: "Time is short.".to_owned() },
            Message::Assistant {
                text: "\n".to_owned(),
                calls: vec![call(2, "a b.ü", r#"{"a"#), call(3, "", "[1]")],
                own: None,
            },
            Message::ToolResults {
                results: vec![result(2, json!({"error": "no JSON"})), result(3, json!(""))],
            },
        ],
        tools: [
            ToolSpec::new("f", "", &json!({})),
            ToolSpec::new(
                "g",
                "Does.",
                &json!({"type": "object", "properties": {"z": {}, "a": {}}}),
            ),
        ]
        .into(),
        id: String::new(),
        cache_key: "key".to_owned(),
        forced_tool: None,
        cache_points: vec![
            CachePoint { message: 0, block: 1 },
            CachePoint { message: 5, block: 1 },
        ],
        files: std::sync::Arc::default(),
        cause: None,
    }
}

/// The body of a request with the fields that are the same for all models.
fn whole_body(system: Value, messages: Value) -> Value {
    let schema = |properties: Value| json!({"type": "object", "properties": properties});
    json!({
        "system": system,
        "messages": messages,
        "toolConfig": {"tools": [
            {"toolSpec": {"name": "f", "inputSchema": {"json": schema(json!({}))}}},
            {"toolSpec": {"name": "g", "description": "Does.",
                "inputSchema": {"json": schema(json!({"z": {}, "a": {}}))}}},
        ]},
        "inferenceConfig": {"maxTokens": 4096, "temperature": 0.5},
    })
}

#[test]
fn a_short_request_has_stable_bytes() {
    let expected = concat!(
        r#"{"system":[{"text":"You are Ada."},{"cachePoint":{"type":"default"}}],"#,
        r#""messages":[{"role":"user","content":[{"text":"Hello"}]}],"#,
        r#""toolConfig":{"tools":[{"toolSpec":{"name":"send_message","description":"Speaks.","#,
        r#""inputSchema":{"json":{"type":"object","properties":{"text":{"type":"string"}}}}}}]},"#,
        r#""inferenceConfig":{"maxTokens":4096}}"#,
    );
    let request = Request { model: to(CLAUDE), ..request() };
    assert_eq!(serde_json::to_string(&RequestBody::new(&request)).unwrap(), expected);
}

#[test]
fn claude_gets_marks_at_cache_points_and_text_after_results() {
    let messages = json!([
        {"role": "user", "content": [text("a"), text("b"), mark(), text("c")]},
        {"role": "assistant", "content": [text("Hm."), first_call(), second_call()]},
        {"role": "user", "content": results_with_notice()},
        {"role": "assistant", "content": invalid_calls()},
        {"role": "user", "content": [
            tool_result(2, r#"{"error":"no JSON"}"#),
            tool_result(3, "\"\""),
            mark(),
        ]},
    ]);
    assert_eq!(
        body(&conversation(CLAUDE)),
        whole_body(json!([text("One."), text("Two."), mark()]), messages)
    );
}

#[test]
fn nova_gets_marks_after_texts_and_no_text_after_results() {
    let messages = json!([
        {"role": "user", "content": [text("a"), mark(), text("b"), mark(), text("c"), mark()]},
        {"role": "assistant", "content": [text("Hm."), first_call(), second_call()]},
        {"role": "user", "content": results_with_notice()},
        {"role": "assistant", "content": invalid_calls()},
        {"role": "user", "content": error_results()},
    ]);
    assert_eq!(
        body(&conversation(NOVA)),
        whole_body(json!([text("One."), text("Two."), mark()]), messages)
    );
}

#[test]
fn other_models_get_no_marks_and_no_text_next_to_calls_or_results() {
    let messages = json!([
        {"role": "user", "content": [text("a"), text("b"), text("c")]},
        {"role": "assistant", "content": [first_call(), second_call()]},
        {"role": "user", "content": results_with_notice()},
        {"role": "assistant", "content": invalid_calls()},
        {"role": "user", "content": error_results()},
    ]);
    let system = json!([text("One."), text("Two.")]);
    assert_eq!(body(&conversation(LLAMA)), whole_body(system, messages));
}

#[test]
fn roles_alternate_and_tool_results_come_first() {
    let result = Message::ToolResults { results: vec![sample_result(0, json!("r"))] };
    let user = |text: &str| Message::User { blocks: vec![text.to_owned()] };
    let silent = Message::Assistant { text: String::new(), calls: vec![], own: None };
    let notice = Message::System { text: "t".to_owned() };
    let calls = Message::Assistant {
        text: String::new(),
        calls: vec![ToolCall { call_id: call_id(0), name: "f".to_owned(), input: String::new() }],
        own: None,
    };
    let thought = Message::Assistant { text: "I think.".to_owned(), calls: vec![], own: None };
    let messages_for = |model| {
        let messages = vec![
            user("a"),
            silent.clone(),
            user("b"),
            calls.clone(),
            notice.clone(),
            result.clone(),
            thought.clone(),
        ];
        body(&Request { messages, model: to(model), ..request() })["messages"].clone()
    };
    let expected = json!([
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [tool_use(0, "f", json!({}))]},
        {"role": "user", "content": [tool_result(0, "\"r\"\n\nSYSTEM NOTICE:\nt")]},
        {"role": "assistant", "content": [text("I think.")]},
    ]);
    assert_eq!([messages_for(CLAUDE), messages_for(LLAMA)], [expected.clone(), expected]);
}

#[test]
fn thinking_comes_first_in_the_answer_of_its_own_model() {
    let thinking = json!({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c"}}});
    let sent = |from: &str, to_model: &str| {
        let own = ModelData {
            model: format!("openai/{from}"),
            call_ids: vec!["tooluse_1".to_owned()],
            opaque: Some(json!({"blocks": [thinking]})),
        };
        let call = ToolCall { call_id: call_id(0), name: "f".to_owned(), input: "{}".to_owned() };
        let answer =
            Message::Assistant { text: String::new(), calls: vec![call], own: Some(Box::new(own)) };
        let results = Message::ToolResults { results: vec![sample_result(0, json!(1))] };
        let request = Request { messages: vec![answer, results], model: to(to_model), ..request() };
        body(&request)["messages"].clone()
    };
    let turns = |before: &[Value], id: &str| {
        let call = json!({"toolUse": {"toolUseId": id, "name": "f", "input": {}}});
        let result = json!({"toolResult": {"toolUseId": id, "content": [text("1")]}});
        let answer = [before, &[call]].concat();
        json!([
            {"role": "assistant", "content": answer},
            {"role": "user", "content": [result]},
        ])
    };
    assert_eq!(sent(CLAUDE, CLAUDE), turns(std::slice::from_ref(&thinking), "tooluse_1"));
    assert_eq!(sent(CLAUDE, NOVA), turns(&[], &made_id(0)));
}

#[test]
fn a_tool_can_be_forced_where_the_model_allows_it() {
    let forced = |model| {
        let request = Request { forced_tool: Some(samples::forced()), ..conversation(model) };
        body(&request)["toolConfig"]["toolChoice"].clone()
    };
    let choice = json!({"tool": {"name": "choose"}});
    assert_eq!(
        [forced(CLAUDE), forced(NOVA), forced(LLAMA)],
        [choice.clone(), choice, json!(null)]
    );
}

#[test]
fn empty_fields_are_left_out_and_the_temperature_is_limited() {
    let hot = ModelConfig { temperature: Some(1.5), ..to(NOVA) };
    let bare = Request { system: vec![], tools: [].into(), model: hot, ..request() };
    let expected = json!({
        "messages": [{"role": "user", "content": [text("Hello")]}],
        "inferenceConfig": {"maxTokens": 4096, "temperature": 1.0},
    });
    assert_eq!(body(&bare), expected);
}

/// The body of a short request to this model with these settings.
fn body_with(name: &str, settings: Value) -> Value {
    let mut model = json!({"provider": "bedrock", "name": name, "temperature": 0.5});
    model.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    body(&Request { model: serde_json::from_value(model).unwrap(), ..request() })
}

#[test]
fn claude_thinks_in_fields_of_its_own_api() {
    let fields =
        json!({"additionalModelRequestFields": {"top_k": 5}, "requestMetadata": {"a": "b"}});
    let settings = json!({"reasoning": "low", "request": fields, "toolChoice": "required"});
    let with = body_with(CLAUDE, settings.clone());
    let thinking = json!({"type": "enabled", "budget_tokens": 1_024});
    let expected = json!({"top_k": 5, "thinking": thinking});
    assert_eq!(with["additionalModelRequestFields"], expected);
    assert_eq!(with["requestMetadata"], json!({"a": "b"}));
    assert_eq!(with["inferenceConfig"].get("temperature"), None);
    assert_eq!(with["toolConfig"].get("toolChoice"), None);
    let nova = body_with(NOVA, settings);
    assert_eq!(nova["additionalModelRequestFields"], json!({"top_k": 5}));
    assert_eq!(nova["toolConfig"]["toolChoice"], json!({"any": {}}));
    let llama = body_with(LLAMA, json!({"toolChoice": "required"}));
    assert_eq!(llama["toolConfig"].get("toolChoice"), None);
    assert_eq!(llama.get("additionalModelRequestFields"), None);
}
