//! Bad inputs of every tool, generated from the schemas that the model receives: each is answered
//! with an error that names the field and what was expected, and nothing happens.

mod misfits;

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    api::bad_input::everything,
    support::{
        model::{Answer, Part, raw_call, stop},
        tool_scene::{ToolScene, but, http_tool},
        waiting::SOON,
    },
    tools::inputs::misfits::{fitting, misfits},
};

/// A little less than the most that a model may write in one answer.
const ANSWER_BYTES: usize = 150_000;

/// An input that does not fit.
struct BadInput {
    input: String,
    /// The field that the error must name.
    field: String,
    /// The fault in the input.
    fault: &'static str,
}

/// A schema that uses each supported keyword.
fn schema() -> Value {
    let place = json!({
        "type": "object",
        "properties": {
            "lat": {"type": "number", "minimum": -90, "maximum": 90},
            "near": {"type": "boolean"},
        },
        "required": ["lat"],
        "additionalProperties": false,
    });
    let tag = json!({"type": "string", "maxLength": 5});
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1, "maxLength": 60, "pattern": "^[^0-9]*$"},
            "days": {"type": "integer", "minimum": 1, "maximum": 5},
            "units": {"enum": ["metric", "imperial"]},
            "tags": {"type": "array", "items": tag, "minItems": 1, "maxItems": 3},
            "place": place,
            "note": {"type": ["string", "null"], "maxLength": 100},
        },
        "required": ["city", "place"],
        "additionalProperties": false,
    })
}

/// A hidden and a visible tool of each kind.
fn tools(url: &str) -> Value {
    let of = |execution: Value| {
        json!({
            "name": "x",
            "description": "Does it.",
            "inputSchema": schema(),
            "execution": execution,
        })
    };
    let http = http_tool(
        "x",
        "POST",
        &format!("{url}/count?city={{{{input.city}}}}"),
        json!({"body": "{{input}}"}),
    );
    let kinds = [
        ("http", but(http, json!({"inputSchema": schema()}))),
        ("static", of(json!({"type": "static", "output": "said"}))),
        ("compute", of(json!({"type": "compute", "expression": "input.city"}))),
        ("form", of(json!({"type": "space"}))),
        ("buttons", of(json!({"type": "space", "ui": "buttons"}))),
    ];
    let named = |name: String, tool: &Value, visible: bool| {
        but(tool.clone(), json!({"name": name, "visible": visible}))
    };
    let all = kinds.iter().flat_map(|(kind, tool)| {
        [named((*kind).into(), tool, false), named(format!("{kind}Shown"), tool, true)]
    });
    all.collect()
}

/// The names of [`tools`], each also with `Shown`.
const CONFIGURED: [&str; 5] = ["http", "static", "compute", "form", "buttons"];

/// Whether a field is null that may be absent. For tools of the product this is the same.
fn has_null_for_absent(schema: &Value, value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, field)| {
            let required = schema["required"].as_array();
            let is_required = required.is_some_and(|names| names.contains(&json!(name)));
            let of_field = &schema["properties"][name];
            (field.is_null() && !is_required && of_field.is_object())
                || has_null_for_absent(of_field, field)
        }),
        Value::Array(items) => items.iter().any(|item| has_null_for_absent(&schema["items"], item)),
        _ => false,
    }
}

/// Bad inputs of a tool: values that violate its schema, and malformed ids, texts and JSON, which
/// the schema does not describe.
fn bad_inputs(name: &str, schema: &Value) -> Vec<BadInput> {
    let is_builtin = !CONFIGURED.contains(&name.trim_end_matches("Shown"));
    let mut bad: Vec<BadInput> = misfits(schema)
        .into_iter()
        // A null target is allowed: it means the active space.
        .filter(|misfit| misfit.value.get("targetSpaceId").is_none_or(|id| !id.is_null()))
        .filter(|misfit| !is_builtin || !has_null_for_absent(schema, &misfit.value))
        .map(|misfit| BadInput {
            input: misfit.value.to_string(),
            field: misfit.field.unwrap_or_default(),
            fault: misfit.fault,
        })
        .collect();
    for id in ["spaceId", "runId", "entityId", "targetSpaceId"] {
        if schema["properties"][id].is_object() {
            for wrong in ["", "nonsense", "spc_", "ent_01ARZ3NDEKTSV4RRFFQ69G5FAU0", "' OR 1=1"] {
                bad.push(BadInput {
                    input: but(fitting(schema), json!({id: wrong})).to_string(),
                    field: id.into(),
                    fault: "a malformed id",
                });
            }
        }
    }
    if name == "send_message" {
        for text in ["x".repeat(32_769), "nul \0".to_owned()] {
            bad.push(BadInput {
                input: json!({"text": text}).to_string(),
                field: "text".into(),
                fault: "a forbidden text",
            });
        }
    }
    for broken in ["{", "{\"a\": 1,}", "nonsense", "{\"a\": 1, \"a\": 2}", "{} {}", "\u{0}"] {
        bad.push(BadInput { input: broken.into(), field: String::new(), fault: "broken JSON" });
    }
    bad
}

#[tokio::test]
async fn every_bad_input_of_every_tool_is_reported_and_has_no_effect() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    scene.calls(Vec::new()).await;
    let bad = bad_inputs_of_all_tools(&scene);
    assert!(bad.len() > 500, "{}", bad.len());
    let socket = scene.stack.socket_of(&scene.person).await;
    socket.subscribe(&scene.space, None).await;

    let mut wrong = Vec::new();
    let batches = batches(&bad);
    for batch in &batches {
        wrong.extend(wrong_answers(&scene, batch).await);
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), bad.len());

    assert_eq!(scene.server.connections(), 0);
    // One message and one run of the first trigger, and one for each batch.
    let triggers = batches.len() + 1;
    let [.., messages, runs] = everything(&scene.stack, &scene.space).await;
    assert_eq!(messages.as_array().unwrap().len(), triggers);
    assert_eq!(runs.as_array().unwrap().len(), triggers);
    for kind in ["memories", "goals"] {
        let path = format!("/v1/agents/{}/{kind}", scene.agent);
        assert_eq!(scene.stack.all(&path).await, [] as [Value; 0]);
    }
    let view = socket.view(&scene.space);
    assert!(view.live().is_empty(), "{:.500?}", view.live());
    assert!(!socket.frames().iter().any(|frame| frame.kind == "tool.requested"));
}

/// The bad inputs of all tools in the first request to the model, each with the tool's name.
fn bad_inputs_of_all_tools(scene: &ToolScene) -> Vec<(String, BadInput)> {
    let request = scene.stack.model.requests("ada").remove(0);
    let names = request.tools();
    let expected = ["set_goals", "get_goals", "httpShown", "buttons"];
    assert!(names.len() >= 23, "{names:?}");
    assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
    let tools = request.body["tools"].as_array().unwrap();
    let bad_inputs_of = |tool: &Value| {
        let name = tool["function"]["name"].as_str().unwrap().to_owned();
        let bad = bad_inputs(&name, &tool["function"]["parameters"]);
        bad.into_iter().map(move |bad| (name.clone(), bad))
    };
    tools.iter().flat_map(bad_inputs_of).collect()
}

/// Splits the inputs into batches that a model may write in one answer.
fn batches(bad: &[(String, BadInput)]) -> Vec<&[(String, BadInput)]> {
    let mut batches = Vec::new();
    let mut rest = bad;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|(name, bad)| {
            bytes += bad.input.len() + name.len() + 64;
            bytes < ANSWER_BYTES
        });
        let (batch, later) = rest.split_at(fitting.count().clamp(1, 200));
        batches.push(batch);
        rest = later;
    }
    batches
}

/// Makes these calls in one answer. Returns those that were not answered with a helpful error.
async fn wrong_answers(scene: &ToolScene, batch: &[(String, BadInput)]) -> Vec<String> {
    let calls: Vec<Part> = batch.iter().map(|(name, bad)| raw_call(name, &bad.input)).collect();
    let answer = Answer::of(calls).slow(10_000, Duration::ZERO);
    scene.stack.model.plays("ada", [answer, stop()]);
    let run = scene.trigger().await;
    let run = scene.stack.ended(&run, SOON * 2).await;
    assert_eq!((&run["status"], &run["stepCount"]), (&json!("completed"), &json!(2)), "{run:.500}");
    let results = scene.results();
    assert_eq!(results.len(), batch.len());
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let mut wrong = Vec::new();
    for (((name, bad), result), call) in batch.iter().zip(&results).zip(calls) {
        let error = result["error"].as_str().unwrap_or_default();
        // The schema at the end names all fields. The text before it must name the wrong one.
        let reason = error.split("; expected {").next().unwrap_or_default();
        let is_right = call["status"] == "failed"
            && error.contains("expected")
            && reason.contains(&bad.field)
            && error.len() < 6_000;
        if !is_right {
            wrong.push(format!(
                "{name} with {}: {:.200} → {} {result:.600}",
                bad.fault, bad.input, call["status"]
            ));
        }
    }
    wrong
}
