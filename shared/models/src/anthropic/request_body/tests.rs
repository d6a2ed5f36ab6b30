use smartspace_domain::agents::ModelConfig;

use super::*;
use crate::{
    port::{CachePoint, Message, ModelData, ToolCall},
    samples::{self, PDF, PNG, call_id, made_id, request, result as sample_result},
};

fn body(request: &Request) -> Value {
    serde_json::from_str(&serde_json::to_string(&RequestBody::new(request)).unwrap()).unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn marked(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

fn tool_use(index: u32, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": made_id(index), "name": name, "input": input})
}

fn tool_result(index: u32, content: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": made_id(index), "content": content})
}

#[test]
fn a_short_request() {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let expected = json!({
        "model": "gpt-x",
        "max_tokens": 4096,
        "system": [marked("You are Ada.")],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
        "tools": [{"name": "send_message", "description": "Speaks.", "input_schema": schema}],
        "stream": true,
    });
    assert_eq!(body(&request()), expected);
}

fn conversation() -> Request {
    let call = |index, name: &str, input: &str| ToolCall {
        call_id: call_id(index),
        name: name.to_owned(),
        input: input.to_owned(),
    };
    let result = sample_result;
    Request {
        model: ModelConfig { temperature: Some(0.7), ..request().model },
        system: vec!["One.".to_owned(), "Two.".to_owned(), " ".to_owned()],
        messages: vec![
            Message::User { blocks: vec!["a".to_owned(), String::new(), "b".to_owned()] },
            Message::Assistant {
                text: "Hm.".to_owned(),
                calls: vec![call(0, "f", r#"{"a": 1}"#), call(1, "g", "")],
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
                results: vec![result(2, json!({"error": "no JSON"})), result(3, Value::Null)],
            },
        ],
        tools: [ToolSpec::new("f", "", &json!({}))].into(),
        id: String::new(),
        cache_key: String::new(),
        forced_tool: None,
        cache_points: vec![
            CachePoint { message: 0, block: 0 },
            CachePoint { message: 5, block: 1 },
        ],
        files: std::sync::Arc::default(),
        cause: None,
    }
}

#[test]
fn a_conversation_with_every_kind_of_message() {
    let marked_result = json!({
        "type": "tool_result",
        "tool_use_id": made_id(3),
        "content": "null",
        "cache_control": {"type": "ephemeral"},
    });
    let expected = json!({
        "model": "gpt-x",
        "max_tokens": 4096,
        "system": [text("One."), marked("Two.")],
        "messages": [
            {"role": "user", "content": [marked("a"), text("b")]},
            {"role": "assistant", "content": [
                text("Hm."),
                tool_use(0, "f", json!({"a": 1})),
                tool_use(1, "g", json!({})),
            ]},
            {"role": "user", "content": [
                tool_result(0, "\"as it is\""),
                tool_result(1, "{\"ok\":true}\n\nSYSTEM NOTICE:\nTime is short."),
            ]},
            {"role": "assistant", "content": [
                tool_use(2, "a_b__", json!({"unreadable": "{\"a"})),
                tool_use(3, "_", json!({"unreadable": "[1]"})),
            ]},
            {"role": "user", "content": [tool_result(2, r#"{"error":"no JSON"}"#), marked_result]},
        ],
        "tools": [
            {"name": "f", "description": "",
                "input_schema": {"type": "object", "properties": {}}},
        ],
        "stream": true,
        "temperature": 0.7,
    });
    assert_eq!(body(&conversation()), expected);
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
    let turns = body(&Request {
        messages: vec![user("a"), silent, user("b"), calls, notice, result],
        ..request()
    });
    let expected = json!([
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [tool_use(0, "f", json!({}))]},
        {"role": "user", "content": [tool_result(0, "\"r\"\n\nSYSTEM NOTICE:\nt")]},
    ]);
    assert_eq!(turns["messages"], expected);
}

#[test]
fn a_tool_can_be_forced() {
    let forced = Request { forced_tool: Some(samples::forced()), ..conversation() };
    assert_eq!(body(&forced)["tool_choice"], json!({"type": "tool", "name": "choose"}));
}

#[test]
fn empty_fields_are_left_out_and_the_temperature_is_limited() {
    let hot = ModelConfig { temperature: Some(1.5), ..request().model };
    let bare = Request { system: vec![], tools: [].into(), model: hot, ..request() };
    let expected = json!({
        "model": "gpt-x",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": [text("Hello")]}],
        "stream": true,
        "temperature": 1.0,
    });
    assert_eq!(body(&bare), expected);
}

fn picture() -> Value {
    let source = json!({"type": "base64", "media_type": "image/png", "data": PNG.1});
    json!({"type": "image", "source": source})
}

fn marked_pdf() -> Value {
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": PDF.1});
    json!({"type": "document", "source": source, "title": "b (1).pdf",
        "cache_control": {"type": "ephemeral"}})
}

#[test]
fn files_follow_their_labels_and_a_cache_point_marks_a_whole_file() {
    let expected = json!([{"role": "user", "content": [
        text("Hello"),
        text("[a.png]"),
        picture(),
        text("[b (1).pdf]"),
        marked_pdf(),
        text("[gone.jpeg]"),
    ]}]);
    assert_eq!(body(&samples::request_with_files())["messages"], expected);
}

#[test]
fn files_come_after_the_results_of_their_turn() {
    let mut request = samples::request_with_files_after_a_result();
    let expected = json!([
        {"role": "user", "content": [text("Hello")]},
        {"role": "assistant", "content": [tool_use(0, "f", json!({}))]},
        {"role": "user", "content": [
            tool_result(0, "\"r\""),
            text("[a.png]"),
            picture(),
            text("[b (1).pdf]"),
            marked_pdf(),
            text("[gone.jpeg]"),
        ]},
    ]);
    assert_eq!(body(&request)["messages"], expected);
    request.messages.swap(2, 3);
    request.cache_points = vec![CachePoint { message: 2, block: 1 }];
    assert_eq!(body(&request)["messages"], expected);
}

#[test]
fn files_without_bytes_or_of_another_type_are_only_their_labels() {
    let mut bare = samples::request_with_files();
    bare.files = std::sync::Arc::default();
    let labels = [text("[a.png]"), marked("[b (1).pdf]"), text("[gone.jpeg]")];
    let content = [&[text("Hello")], &labels[..]].concat();
    assert_eq!(body(&bare)["messages"], json!([{"role": "user", "content": content}]));
    let mut of_text = samples::request_with_files();
    let files = [(1, "a.png"), (2, "b (1).pdf"), (3, "gone.jpeg")]
        .map(|(number, name)| samples::file(number, name, "text/plain"));
    of_text.messages[1] = Message::Files { files: files.into() };
    assert_eq!(body(&of_text), body(&bare));
}

#[test]
fn thinking_comes_first_in_the_answer_of_its_own_model() {
    let blocks = json!([
        {"type": "thinking", "thinking": "I greet back.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
    ]);
    let sent = |model: &str| {
        let own = ModelData {
            model: model.to_owned(),
            call_ids: vec!["toolu_1".to_owned()],
            opaque: Some(json!({"blocks": blocks})),
        };
        let call = ToolCall { call_id: call_id(0), name: "f".to_owned(), input: "{}".to_owned() };
        let answer = Message::Assistant {
            text: "Hm.".to_owned(),
            calls: vec![call],
            own: Some(Box::new(own)),
        };
        let results = Message::ToolResults { results: vec![sample_result(0, json!(1))] };
        let notice = Message::System { text: "Late.".to_owned() };
        let cache_points = vec![CachePoint { message: 2, block: 0 }];
        let messages = vec![answer, results, notice];
        body(&Request { messages, cache_points, ..request() })["messages"].clone()
    };
    let turns = |before: &Value, id: &str| {
        let call = json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
        let content = [before.as_array().unwrap().clone(), vec![text("Hm."), call]].concat();
        let result = json!({"type": "tool_result", "tool_use_id": id,
            "content": "1\n\nSYSTEM NOTICE:\nLate.", "cache_control": {"type": "ephemeral"}});
        json!([
            {"role": "assistant", "content": content},
            {"role": "user", "content": [result]},
        ])
    };
    assert_eq!(sent("openai/gpt-x"), turns(&blocks, "toolu_1"));
    assert_eq!(sent("anthropic/claude-x"), turns(&json!([]), &made_id(0)));
}

/// The body of a short request to this model with these settings.
fn body_with(name: &str, settings: Value) -> Value {
    let mut model = json!({"provider": "anthropic", "name": name, "temperature": 0.5});
    model.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    body(&Request { model: serde_json::from_value(model).unwrap(), ..request() })
}

#[test]
fn thinking_takes_the_form_of_the_generation() {
    let high = |name| body_with(name, json!({"reasoning": "high", "toolChoice": "required"}));
    let with_budget = high("claude-opus-4-5");
    assert_eq!(with_budget["thinking"], json!({"type": "enabled", "budget_tokens": 3_072}));
    assert_eq!(with_budget.get("output_config"), None);
    let adaptive = high("claude-opus-4-7");
    assert_eq!(adaptive["thinking"], json!({"type": "adaptive"}));
    assert_eq!(adaptive["output_config"], json!({"effort": "high"}));
    for thinking in [with_budget, adaptive] {
        assert_eq!((thinking.get("temperature"), thinking.get("tool_choice")), (None, None));
    }
    let off = body_with("claude-opus-4-5", json!({"reasoning": "off"}));
    assert_eq!((off.get("thinking"), &off["temperature"]), (None, &json!(0.5)));
}

#[test]
fn a_call_may_be_required_and_fields_are_added() {
    let settings = json!({"toolChoice": "required", "request": {"top_k": 5}});
    let with = body_with("claude-opus-4-5", settings);
    assert_eq!((&with["tool_choice"], &with["top_k"]), (&json!({"type": "any"}), &json!(5)));
}
