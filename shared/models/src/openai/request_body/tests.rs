use smartspace_domain::agents::ModelConfig;

use super::*;
use crate::{
    port::{ForcedTool, Message, ModelData, ToolCall, ToolSpec},
    samples::{self, PDF, PNG, call_id, made_id, request, result},
};

fn body(request: &Request, native: bool) -> Value {
    serde_json::from_str(&serde_json::to_string(&RequestBody::new(request, native)).unwrap())
        .unwrap()
}

#[test]
fn a_short_request_to_openai_and_to_another_server() {
    let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let function =
        json!({"name": "send_message", "description": "Speaks.", "parameters": parameters});
    let mut expected = json!({
        "model": "gpt-x",
        "messages": [
            {"role": "system", "content": "You are Ada."},
            {"role": "user", "content": "Hello"},
        ],
        "tools": [{"type": "function", "function": function}],
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

fn conversation() -> Request {
    let call = |index, name: &str, input: &str| ToolCall {
        call_id: call_id(index),
        name: name.to_owned(),
        input: input.to_owned(),
    };
    Request {
        model: ModelConfig { temperature: Some(0.7), ..request().model },
        system: vec!["One.".to_owned(), "Two.".to_owned()],
        messages: vec![
            Message::User { blocks: vec!["a".to_owned(), "b".to_owned()] },
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
                text: String::new(),
                calls: vec![call(2, "f", r#"{"a"#), call(3, "f", "[1]")],
                own: None,
            },
            Message::ToolResults {
                results: vec![result(2, json!({"error": "no JSON"})), result(3, Value::Null)],
            },
            Message::Assistant { text: "Done.".to_owned(), calls: vec![], own: None },
        ],
        tools: [ToolSpec::new("f", "", &json!({}))].into(),
        id: String::new(),
        cache_key: String::new(),
        forced_tool: None,
        cache_points: vec![],
        files: std::sync::Arc::default(),
        cause: None,
    }
}

#[test]
fn a_conversation_with_every_kind_of_message() {
    let function = |index, name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"id": made_id(index), "type": "function", "function": function})
    };
    let parameters = json!({"type": "object", "properties": {}});
    let expected = json!({
        "model": "gpt-x",
        "messages": [
            {"role": "system", "content": "One.\n\nTwo."},
            {"role": "user", "content": "a\nb"},
            {"role": "assistant", "content": "Hm.",
                "tool_calls": [function(0, "f", r#"{"a": 1}"#), function(1, "g", "{}")]},
            {"role": "tool", "tool_call_id": made_id(0), "content": "\"as it is\""},
            {"role": "tool", "tool_call_id": made_id(1),
                "content": "{\"ok\":true}\n\nSYSTEM NOTICE:\nTime is short."},
            {"role": "assistant", "tool_calls": [
                function(2, "f", r#"{"unreadable":"{\"a"}"#),
                function(3, "f", r#"{"unreadable":"[1]"}"#),
            ]},
            {"role": "tool", "tool_call_id": made_id(2), "content": r#"{"error":"no JSON"}"#},
            {"role": "tool", "tool_call_id": made_id(3), "content": "null"},
            {"role": "assistant", "content": "Done."},
        ],
        "tools": [{"type": "function",
            "function": {"name": "f", "description": "", "parameters": parameters}}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.7,
        "max_completion_tokens": 4096,
    });
    assert_eq!(body(&conversation(), true), expected);
}

#[test]
fn a_tool_can_be_forced() {
    let forced = Request { forced_tool: Some(samples::forced()), ..conversation() };
    for native in [true, false] {
        assert_eq!(body(&forced, native)["tool_choice"], "required");
    }
}

#[test]
fn the_input_of_a_tool_can_be_asked_for_by_its_schema() {
    let forced_tool = Some(ForcedTool { by_schema: true, name: "f".to_owned() });
    let forced = Request { forced_tool, ..conversation() };
    let sent = body(&forced, false);
    assert_eq!((sent.get("tools"), sent.get("tool_choice")), (None, None));
    let offered = body(&conversation(), false)["tools"][0]["function"].clone();
    let schema = json!({"type": "json_schema", "json_schema": {"name": "f", "description": "",
        "strict": true, "schema": offered["parameters"]}});
    assert_eq!(sent["response_format"], schema);
}

#[test]
fn empty_fields_are_left_out() {
    let bare = Request { system: vec![], tools: [].into(), ..request() };
    let expected = json!({
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 4096,
    });
    assert_eq!(body(&bare, false), expected);
}

/// The content of a message with the picture and the PDF of the samples, after a text.
fn content_with_files(before: &str) -> Value {
    let text = |text: &str| json!({"type": "text", "text": text});
    let picture = json!({"url": format!("data:image/png;base64,{}", PNG.1)});
    let pdf = json!({
        "filename": "b (1).pdf",
        "file_data": format!("data:application/pdf;base64,{}", PDF.1),
    });
    json!([
        text(&format!("{before}[a.png]")),
        {"type": "image_url", "image_url": picture},
        text("[b (1).pdf]"),
        {"type": "file", "file": pdf},
        text("[gone.jpeg]"),
    ])
}

#[test]
fn files_are_a_message_of_the_user_and_follow_their_labels() {
    let expected = json!([
        {"role": "system", "content": "You are Ada."},
        {"role": "user", "content": content_with_files("Hello\n")},
    ]);
    for native in [true, false] {
        assert_eq!(body(&samples::request_with_files(), native)["messages"], expected);
    }
}

#[test]
fn files_come_after_the_results() {
    let call = json!({"id": made_id(0), "type": "function",
        "function": {"name": "f", "arguments": "{}"}});
    let expected = json!([
        {"role": "system", "content": "You are Ada."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": made_id(0), "content": "\"r\""},
        {"role": "user", "content": content_with_files("")},
    ]);
    let mut request = samples::request_with_files_after_a_result();
    assert_eq!(body(&request, true)["messages"], expected);
    // Some servers refuse a message of the user after a result, so labels alone are a part of that.
    request.files = std::sync::Arc::default();
    request.messages.push(Message::System { text: "Late.".to_owned() });
    let shown = "\"r\"\n\n[a.png]\n[b (1).pdf]\n[gone.jpeg]\n\nSYSTEM NOTICE:\nLate.";
    let results = json!([{"role": "tool", "tool_call_id": made_id(0), "content": shown}]);
    assert_eq!(
        body(&request, false)["messages"].as_array().unwrap()[3..],
        results.as_array().unwrap()[..]
    );
}

#[test]
fn labels_without_their_files_are_one_text() {
    let mut request = samples::request_with_files();
    request.files = std::sync::Arc::default();
    let expected = json!([
        {"role": "system", "content": "You are Ada."},
        {"role": "user", "content": "Hello\n[a.png]\n[b (1).pdf]\n[gone.jpeg]"},
    ]);
    assert_eq!(body(&request, true)["messages"], expected);
}

#[test]
fn the_name_of_a_pdf_says_that_it_is_one() {
    assert_eq!(
        ["a.pdf", "A.PDF", "a", "é"].map(messages::pdf_name),
        ["a.pdf", "A.PDF", "a.pdf", "é.pdf"]
    );
}

/// An answer with one call, and the result of the call.
fn step(index: u32, text: &str, own: Option<ModelData>) -> [Message; 2] {
    let call = ToolCall { call_id: call_id(index), name: "f".to_owned(), input: "{}".to_owned() };
    [
        Message::Assistant { text: text.to_owned(), calls: vec![call], own: own.map(Box::new) },
        Message::ToolResults { results: vec![result(index, json!(index))] },
    ]
}

#[test]
fn a_notice_is_said_by_the_user_where_no_result_is_before_it() {
    let notice = |text: &str| Message::System { text: text.to_owned() };
    let mut request = request();
    request.messages.push(notice("One."));
    request.messages.push(notice("Two."));
    let thought = Message::Assistant { text: "Hm.".to_owned(), calls: vec![], own: None };
    request.messages.extend([thought, notice("You said nothing.")]);
    let expected = json!([
        {"role": "system", "content": "You are Ada."},
        {"role": "user", "content": "Hello\n\nSYSTEM NOTICE:\nOne.\n\nSYSTEM NOTICE:\nTwo."},
        {"role": "assistant", "content": "Hm."},
        {"role": "user", "content": "SYSTEM NOTICE:\nYou said nothing."},
    ]);
    for native in [true, false] {
        assert_eq!(body(&request, native)["messages"], expected);
    }
}

#[test]
fn an_answer_goes_back_to_its_own_model_with_its_ids_and_marks() {
    let opaque = json!({
        "reasoning_content": "I greet back.",
        "reasoning_details": [{"type": "reasoning.text", "text": "I greet back."}],
        "role": "user",
        "calls": {"0": {"extra_content": {"google": {"thought_signature": "c2ln"}}, "id": "x"}},
    });
    let own = |model: &str| ModelData {
        model: model.to_owned(),
        call_ids: vec!["b9mgIC84m".to_owned()],
        opaque: Some(opaque.clone()),
    };
    let sent = |model: &str| {
        let request = Request { messages: step(0, "", Some(own(model))).to_vec(), ..request() };
        body(&request, false)["messages"].clone()
    };
    let function = json!({"name": "f", "arguments": "{}"});
    let system = json!({"role": "system", "content": "You are Ada."});
    let call = json!({
        "id": "b9mgIC84m", "type": "function", "function": function,
        "extra_content": {"google": {"thought_signature": "c2ln"}},
    });
    let expected = json!([
        system,
        {"role": "assistant", "tool_calls": [call], "reasoning_content": "I greet back.",
            "reasoning_details": [{"type": "reasoning.text", "text": "I greet back."}]},
        {"role": "tool", "tool_call_id": "b9mgIC84m", "content": "0"},
    ]);
    assert_eq!(sent("openai/gpt-x"), expected);
    let call = json!({"id": made_id(0), "type": "function", "function": function});
    let without = json!([
        system,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": made_id(0), "content": "0"},
    ]);
    assert_eq!([sent("openai/gpt-y"), sent("groq/gpt-x")], [without.clone(), without]);
}

#[test]
fn parts_that_are_thinking_stand_before_the_text() {
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]});
    let sent = |text: &str| {
        let own = ModelData {
            model: "openai/gpt-x".to_owned(),
            call_ids: vec!["b9mgIC84m".to_owned()],
            opaque: Some(json!({"content": [thinking]})),
        };
        let messages = step(0, text, Some(own)).to_vec();
        body(&Request { messages, ..request() }, false)["messages"][1]["content"].clone()
    };
    assert_eq!(sent("Hi."), json!([thinking, {"type": "text", "text": "Hi."}]));
    assert_eq!(sent(""), json!([thinking]));
}

/// The body of a short request whose model has these settings.
fn body_with(settings: Value, native: bool) -> Value {
    let mut model = json!({"provider": "openai", "name": "gpt-5"});
    model.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let model = serde_json::from_value(model).unwrap();
    body(&Request { model, ..request() }, native)
}

#[test]
fn reasoning_is_an_effort() {
    assert_eq!(body_with(json!({"reasoning": "high"}), true)["reasoning_effort"], "high");
    assert_eq!(body_with(json!({"reasoning": "off"}), true)["reasoning_effort"], "minimal");
    assert_eq!(body_with(json!({"reasoning": "off"}), false)["reasoning_effort"], "none");
    assert_eq!(body_with(json!({}), true).get("reasoning_effort"), None);
}

#[test]
fn configured_fields_are_added() {
    let added = json!({"top_p": 0.5, "chat_template_kwargs": {"enable_thinking": false}});
    let with = body_with(json!({"request": added}), false);
    let mut expected = body_with(json!({}), false);
    expected.as_object_mut().unwrap().extend(added.as_object().unwrap().clone());
    assert_eq!(with, expected);
}

#[test]
fn a_call_may_be_required_if_there_are_tools() {
    let required = json!({"toolChoice": "required"});
    assert_eq!(body_with(required.clone(), false)["tool_choice"], "required");
    let mut model = json!({"provider": "openai", "name": "m"});
    model.as_object_mut().unwrap().extend(required.as_object().unwrap().clone());
    let model = serde_json::from_value(model).unwrap();
    let without = Request { model, tools: [].into(), ..request() };
    assert_eq!(body(&without, false).get("tool_choice"), None);
}

#[test]
fn a_model_that_speaks_json_gets_a_schema_and_no_tools() {
    let with = body_with(json!({"speaks": "json", "toolChoice": "required"}), false);
    assert_eq!((with.get("tools"), with.get("tool_choice")), (None, None));
    let schema = &with["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["required"], json!(["say", "reason"]));
    assert_eq!(schema["properties"]["say"], json!({"type": ["string", "null"]}));
}
