use serde_json::json;

use super::*;
use crate::samples;

fn model() -> ModelConfig {
    samples::request().model
}

fn body() -> Value {
    json!({
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "What is the temperature?"}],
        "max_tokens": 100,
        "temperature": 0.5,
        "stream_options": {"include_usage": true},
        "reasoning_effort": "low",
        "parallel_tool_calls": true,
        "prompt_cache_key": "key",
        "tool_choice": "required",
    })
}

fn refusal(words: &str, fields: &[&str]) -> Refusal {
    Refusal {
        error: ModelError::new(FailureCode::BadRequest, words),
        words: words.to_owned(),
        fields: fields.iter().map(|&field| field.to_owned()).collect(),
    }
}

/// The body after a refusal. `None` if the request is not repeated.
fn after(words: &str, fields: &[&str]) -> Option<Value> {
    let adaptations = Adaptations::default();
    let (model, body) = (model(), body());
    let mut adapted = adaptations.adapt(&model, &body);
    adapted.obey(refusal(words, fields)).ok()?;
    Some(serde_json::to_value(adapted.body().unwrap()).unwrap())
}

fn without(field: &str) -> Value {
    let mut body = body();
    body.as_object_mut().unwrap().shift_remove(field);
    body
}

#[test]
fn a_refused_field_is_left_out() {
    for (words, field) in [
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
        ("property 'prompt_cache_key' is unsupported", "prompt_cache_key"),
        ("Invalid JSON payload received. Unknown name \"prompt_cache_key\"", "prompt_cache_key"),
        ("deepseek-reasoner does not support this tool_choice", "tool_choice"),
        ("parallel_tool_calls: Extra inputs are not permitted", "parallel_tool_calls"),
        ("Unsupported value: 'temperature' does not support 0.5", "temperature"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("`temperature` is deprecated for this model.", "temperature"),
        ("Unknown field reasoning_effort", "reasoning_effort"),
        ("\"llama3.2\" does not support thinking", "reasoning_effort"),
        ("think value \"medium\" is not supported for this model", "reasoning_effort"),
        ("`reasoning_effort` must be one of `none` or `default`", "reasoning_effort"),
        ("Input should be 'low', 'medium' or 'high'", "reasoning_effort"),
    ] {
        assert_eq!(after(words, &[]), Some(without(field)), "{words}");
    }
    assert_eq!(after("no", &["temperature"]), Some(without("temperature")));
    let words = "stream_options is not supported";
    assert_eq!(after(words, &["body"]), Some(without("stream_options")), "a field that is none");
}

#[test]
fn a_refused_schema_of_the_answer_is_offered_as_a_tool() {
    let model = model();
    let schema = json!({"type": "object", "properties": {"agents": {"type": "array"}}});
    let form = |json_schema| json!({"type": "json_schema", "json_schema": json_schema});
    let of_tool = form(json!({"name": "choose", "description": "Choose.", "strict": true,
        "schema": schema}));
    let of_speech = form(json!({"name": "answer", "strict": true, "schema": schema}));
    let function = json!({"name": "choose", "description": "Choose.", "parameters": schema});
    let tools = json!([{"type": "function", "function": function}]);
    let as_tool = json!({"messages": [], "tools": tools, "tool_choice": "required"});
    let as_free_tool = json!({"messages": [], "tools": tools});
    let as_object = json!({"messages": [], "response_format": {"type": "json_object"}});
    let words = "This response_format type is unavailable now";
    let no_choice = "deepseek-reasoner does not support this tool_choice";
    for (format, expected, next, last) in [
        (of_tool, as_tool, no_choice, as_free_tool),
        (of_speech, as_object, words, json!({"messages": []})),
    ] {
        let adaptations = Adaptations::default();
        let body = json!({"messages": [], "response_format": format});
        let mut adapted = adaptations.adapt(&model, &body);
        adapted.obey(refusal(words, &[])).unwrap();
        assert_eq!(serde_json::to_value(adapted.body().unwrap()).unwrap(), expected);
        adapted.obey(refusal(next, &[])).unwrap();
        assert_eq!(serde_json::to_value(adapted.body().unwrap()).unwrap(), last);
        assert!(adapted.obey(refusal(words, &[])).is_err(), "nothing is left to obey");
    }
}

#[test]
fn a_model_that_misses_its_own_marks_beside_calls_of_another_model_gets_empty_ones() {
    let call = json!({"id": "call_1", "function": {"name": "f"}});
    let signed = json!({"id": "call_2", "extra_content": {"google": {"thought_signature": "s"}}});
    let body = json!({"messages": [
        {"role": "assistant", "content": "Hm."},
        {"role": "assistant", "tool_calls": [call, call]},
        {"role": "assistant", "tool_calls": [signed], "reasoning_content": "So."},
    ]});
    let after = |words: &str| {
        let adaptations = Adaptations::default();
        let model = model();
        let mut adapted = adaptations.adapt(&model, &body);
        adapted.obey(refusal(words, &[])).unwrap();
        assert!(adapted.obey(refusal(words, &[])).is_err(), "obeyed once");
        serde_json::to_value(adapted.body().unwrap()).unwrap()
    };
    let mut thinking = body.clone();
    thinking["messages"][1]["reasoning_content"] = json!("");
    let words = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    assert_eq!(after(words), thinking);
    let mut signatures = body.clone();
    let none = json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
    signatures["messages"][1]["tool_calls"][0]["extra_content"] = none;
    let words = "Function call is missing a thought_signature in functionCall parts.";
    assert_eq!(after(words), signatures);
}

#[test]
fn the_limit_of_an_answer_gets_its_other_name() {
    let mut expected = without("max_tokens");
    expected["max_completion_tokens"] = json!(100);
    let words = "Unsupported parameter: 'max_tokens' is not supported with this model. \
        Use 'max_completion_tokens' instead.";
    assert_eq!(after(words, &["max_tokens"]), Some(expected.clone()));
    assert_eq!(after(words, &[]), Some(expected));
    let model = model();
    let newer = json!({"messages": [], "max_completion_tokens": 100});
    let adaptations = Adaptations::default();
    let mut adapted = adaptations.adapt(&model, &newer);
    let words = "Extra inputs are not permitted: max_completion_tokens";
    adapted.obey(refusal(words, &["max_completion_tokens"])).unwrap();
    let sent = serde_json::to_value(adapted.body().unwrap()).unwrap();
    assert_eq!(sent, json!({"messages": [], "max_tokens": 100}));
    let again = "max_tokens is not supported";
    assert_eq!(adapted.obey(refusal(again, &[])).unwrap_err().message, again);
}

#[test]
fn a_refusal_that_names_no_refused_field_is_the_answer() {
    for (words, fields) in [
        ("max_tokens is too large: 100. This model supports at most 50 tokens.", &[][..]),
        ("This model does not support images: What is the temperatures?", &[]),
        ("messages[1]: unknown role, temperature", &["messages[1].role"]),
        ("top_k is not supported", &["top_k"]),
    ] {
        assert_eq!(after(words, fields), None, "{words}");
    }
    let adaptations = Adaptations::default();
    let (model, body) = (model(), body());
    let mut adapted = adaptations.adapt(&model, &body);
    let words = "temperature is not supported";
    let other = ModelError::new(FailureCode::Overloaded, words);
    let overloaded = Refusal { error: other.clone(), ..refusal(words, &[]) };
    assert_eq!(adapted.obey(overloaded), Err(other));
}

#[test]
fn a_refusal_is_remembered_for_its_model_alone() {
    let adaptations = Adaptations::default();
    let (model, body) = (model(), body());
    let mut first = adaptations.adapt(&model, &body);
    first.obey(refusal("temperature and stream_options are not supported", &[])).unwrap();
    let sent = |model: &ModelConfig| {
        serde_json::to_value(adaptations.adapt(model, &body).body().unwrap()).unwrap()
    };
    let mut expected = body.clone();
    for field in ["temperature", "stream_options"] {
        expected.as_object_mut().unwrap().shift_remove(field);
    }
    assert_eq!(sent(&model), expected);
    let other = ModelConfig { name: "gpt-y".to_owned(), ..model.clone() };
    assert_eq!(sent(&other), body);
}

#[test]
fn bedrock_has_other_names_for_some_fields() {
    let body = json!({
        "inferenceConfig": {"maxTokens": 9, "temperature": 0.5},
        "toolConfig": {"tools": [], "toolChoice": {"tool": {"name": "choose"}}},
    });
    let adaptations = Adaptations::default();
    let model = model();
    let mut adapted = adaptations.adapt(&model, &body);
    adapted.obey(refusal("temperature is deprecated for this model", &[])).unwrap();
    adapted
        .obey(refusal("This model doesn't support the toolConfig.toolChoice field.", &[]))
        .unwrap();
    let expected = json!({"inferenceConfig": {"maxTokens": 9}, "toolConfig": {"tools": []}});
    assert_eq!(serde_json::to_value(adapted.body().unwrap()).unwrap(), expected);
}

#[test]
fn schemas_are_simplified_only_after_a_refusal_that_names_them() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "format": {"type": ["string", "null"], "format": "uuid", "default": null},
            "either": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
                "description": "A number."},
            "kind": {"enum": ["a", null]},
            "list": {"type": "array", "items": {"type": "string", "format": "uri"}},
        },
        "required": ["format"],
    });
    let simple = json!({
        "type": "object",
        "properties": {
            "format": {"type": "string"},
            "either": {"description": "A number.", "type": "integer", "minimum": 1},
            "kind": {"enum": ["a"]},
            "list": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["format"],
    });
    let bodies = |schema: &Value| {
        let function = json!({"name": "f", "parameters": schema});
        [
            json!({"tools": [{"type": "function", "function": function}]}),
            json!({"tools": [{"name": "f", "input_schema": schema}]}),
            json!({"toolConfig": {"tools": [{"toolSpec": {"inputSchema": {"json": schema}}}]}}),
        ]
    };
    let model = model();
    for (body, expected) in bodies(&schema).into_iter().zip(bodies(&simple)) {
        for words in [
            "Unknown name \"$schema\" at 'tools[0].function_declarations[0].parameters'",
            "tools[0].function.parameters: format 'uuid' is not known",
            "Invalid schema: type null",
        ] {
            let adaptations = Adaptations::default();
            let mut adapted = adaptations.adapt(&model, &body);
            assert_eq!(serde_json::to_value(adapted.body().unwrap()).unwrap(), body);
            assert!(adapted.obey(refusal("a tool is missing", &[])).is_err());
            adapted.obey(refusal(words, &[])).unwrap();
            assert_eq!(serde_json::to_value(adapted.body().unwrap()).unwrap(), expected);
            assert!(adapted.obey(refusal(words, &[])).is_err(), "it would be asked for ever");
        }
    }
}
