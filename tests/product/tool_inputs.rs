//! Bad inputs of every tool that a model is told of, made from the very schemas that it is told: each is an error that says where and what was
//! expected, and nothing happens.

use serde_json::{Map, Value, json};

use super::{
    acting::{Acting, but, http_tool},
    bad_input::everything,
    model::{Answer, Part, raw_call, stop},
    waiting::SOON,
};

/// How much a model may write in one answer, and a little less.
const ANSWER_BYTES: usize = 150_000;

/// An input that does not fit, and the field that is to be named.
struct Bad {
    input: String,
    field: String,
    what: &'static str,
}

/// Everything of which one kind or another is in a schema.
fn schema() -> Value {
    let place = json!({"type": "object", "properties": {"lat": {"type": "number", "minimum": -90, "maximum": 90}, "near": {"type": "boolean"}},
        "required": ["lat"], "additionalProperties": false});
    json!({"type": "object", "additionalProperties": false, "required": ["city", "place"], "properties": {
        "city": {"type": "string", "minLength": 1, "maxLength": 60, "pattern": "^[^0-9]*$"},
        "days": {"type": "integer", "minimum": 1, "maximum": 5},
        "units": {"enum": ["metric", "imperial"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 1, "maxItems": 3},
        "place": place,
        "note": {"type": ["string", "null"], "maxLength": 100},
    }})
}

fn tools(url: &str) -> Value {
    let of = |execution: Value| json!({"name": "x", "description": "Does it.", "inputSchema": schema(), "execution": execution});
    let http = http_tool("x", "POST", &format!("{url}/count?city={{{{input.city}}}}"), json!({"body": "{{input}}"}));
    let kinds = [
        ("http", but(http, json!({"inputSchema": schema()}))),
        ("static", of(json!({"type": "static", "output": "said"}))),
        ("compute", of(json!({"type": "compute", "expression": "input.city"}))),
        ("form", of(json!({"type": "space"}))),
        ("buttons", of(json!({"type": "space", "ui": "buttons"}))),
    ];
    let named = |name: String, tool: &Value, visible: bool| but(tool.clone(), json!({"name": name, "visible": visible}));
    let all = kinds.iter().flat_map(|(kind, tool)| [named((*kind).into(), tool, false), named(format!("{kind}Shown"), tool, true)]);
    all.collect()
}

/// A value that fits; of objects the required fields only.
fn fitting(schema: &Value) -> Value {
    if let Some(any) = schema["enum"].as_array() {
        return any[0].clone();
    }
    match type_of(schema) {
        "string" => json!("x"),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "array" => json!([fitting(&schema["items"])]),
        "object" => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            Value::Object(required.map(|name| (name.to_owned(), fitting(&schema["properties"][name]))).collect::<Map<_, _>>())
        }
        other => panic!("no value of the type {other}: {schema}"),
    }
}

fn type_of(schema: &Value) -> &str {
    let first = schema["type"].as_array().map_or(&schema["type"], |types| &types[0]);
    first.as_str().unwrap_or("any")
}

/// Values that do not fit, with what is wrong with them; and with the name of the field within, where it is one within.
fn misfits(schema: &Value) -> Vec<(Value, Option<String>, &'static str)> {
    let mut bad: Vec<(Value, Option<String>, &'static str)> = Vec::new();
    let is = |name: &str| schema["type"] == name || schema["type"].as_array().is_some_and(|types| types.contains(&json!(name)));
    let kinds = [
        ("string", json!("a text")),
        ("integer", json!(7)),
        ("boolean", json!(false)),
        ("array", json!(["x"])),
        ("object", json!({"x": 1})),
        ("null", json!(null)),
    ];
    let number = is("number");
    let others = kinds.into_iter().filter(|(kind, _)| !(is(kind) || number && *kind == "integer"));
    bad.extend(others.map(|(_, value)| (value, None, "of another type")));
    let length = |field: &str| schema[field].as_u64().map(|length| length as usize);
    if is("integer") {
        bad.push((json!(1.5), None, "not whole"));
    }
    for (limit, step) in [("minimum", -1.0), ("maximum", 1.0)] {
        if let Some(limit) = schema[limit].as_f64() {
            bad.push((json!(limit + step), None, "beyond its limit"));
            bad.push((json!(limit + step * 1e15), None, "far beyond its limit"));
        }
    }
    if let Some(most) = length("maxLength") {
        bad.push((json!("é".repeat(most + 1)), None, "too long"));
    }
    if length("minLength") > Some(0) {
        bad.push((json!(""), None, "too short"));
    }
    if schema["pattern"].is_string() {
        bad.push((json!("123"), None, "against its pattern"));
    }
    if schema["enum"].is_array() {
        bad.push((json!("none of these"), None, "none of them"));
    }
    if is("array") {
        let item = fitting(&schema["items"]);
        bad.extend(length("maxItems").map(|most| (json!(vec![item.clone(); most + 1]), None, "too many")));
        bad.extend(length("minItems").filter(|least| *least > 0).map(|_| (json!([]), None, "too few")));
        bad.extend(misfits(&schema["items"]).into_iter().map(|(value, field, what)| (json!([item, value]), field, what)));
    }
    if is("object") {
        let fine = fitting(schema);
        let with = |name: &str, value: Value| but(fine.clone(), json!({name: value}));
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let mut without = fine.clone();
            without.as_object_mut().unwrap().remove(name);
            bad.push((without, Some(name.to_owned()), "missing"));
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            for (value, field, what) in misfits(property) {
                bad.push((with(name, value), Some(field.unwrap_or_else(|| name.clone())), what));
            }
        }
        if schema["additionalProperties"] == false {
            bad.push((with("surprise", json!("!")), Some("surprise".into()), "not known"));
        }
    }
    bad
}

/// Bad inputs of a tool. What no schema says is added: ids that are none, and what is too long to be said.
fn bad_inputs(name: &str, schema: &Value) -> Vec<Bad> {
    let mut bad: Vec<Bad> = misfits(schema)
        .into_iter()
        // Without a target a card goes where the run is: null says the same.
        .filter(|(input, ..)| input.get("targetSpaceId").is_none_or(|target| !target.is_null()))
        .map(|(input, field, what)| Bad { input: input.to_string(), field: field.unwrap_or_default(), what })
        .collect();
    for id in ["spaceId", "runId", "entityId", "targetSpaceId"] {
        if schema["properties"][id].is_object() {
            for wrong in ["", "nonsense", "spc_", "ent_01ARZ3NDEKTSV4RRFFQ69G5FAU0", "' OR 1=1"] {
                bad.push(Bad { input: but(fitting(schema), json!({id: wrong})).to_string(), field: id.into(), what: "no id" });
            }
        }
    }
    if name == "send_message" {
        for text in ["x".repeat(32_769), "nul \0".to_owned()] {
            bad.push(Bad { input: json!({"text": text}).to_string(), field: "text".into(), what: "what can't be said" });
        }
    }
    for broken in ["{", "{\"a\": 1,}", "nonsense", "{\"a\": 1, \"a\": 2}", "{} {}", "\u{0}"] {
        bad.push(Bad { input: broken.into(), field: String::new(), what: "no JSON" });
    }
    bad
}

#[tokio::test]
async fn no_bad_input_of_any_tool_does_anything_and_each_is_told_what_was_expected() {
    let Some(acting) = Acting::with(tools).await else { return };
    acting.calls(Vec::new()).await;
    let told = acting.stack.model.asked("ada")[0].body["tools"].as_array().unwrap().clone();
    let names: Vec<_> = told.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert!(names.len() >= 23 && ["set_goals", "delegate", "httpShown", "buttons"].iter().all(|name| names.contains(name)), "{names:?}");

    let all: Vec<(&str, Bad)> = told
        .iter()
        .flat_map(|tool| {
            let name = tool["function"]["name"].as_str().unwrap();
            bad_inputs(name, &tool["function"]["parameters"]).into_iter().map(move |bad| (name, bad))
        })
        .collect();
    assert!(all.len() > 500, "{}", all.len());
    let socket = acting.stack.socket_of(&acting.person).await;
    socket.subscribe(&acting.space, None).await;
    let mut rest = all.as_slice();
    let (mut waking, mut wrong) = (1, Vec::new());
    while !rest.is_empty() {
        let mut bytes = 0;
        let fit = rest.iter().take_while(|(name, bad)| {
            bytes += bad.input.len() + name.len() + 64;
            bytes < ANSWER_BYTES
        });
        let (batch, later) = rest.split_at(fit.count().clamp(1, 200));
        rest = later;
        let calls: Vec<Part> = batch.iter().map(|(name, bad)| raw_call(name, &bad.input)).collect();
        acting.stack.model.plays("ada", [Answer::of(calls).slow(10_000, std::time::Duration::ZERO), stop()]);
        let run = acting.wake().await;
        waking += 1;
        let run = acting.stack.ended(&run, SOON * 2).await;
        assert_eq!((&run["status"], &run["stepCount"]), (&json!("completed"), &json!(2)), "{run:.500}");
        let results = acting.results();
        assert_eq!(results.len(), batch.len());
        for (((name, bad), result), call) in batch.iter().zip(&results).zip(run["steps"][0]["calls"].as_array().unwrap()) {
            let error = result["error"].as_str().unwrap_or_default();
            // The schema names all fields; what stands before it must name this one.
            let says = error.split("; expected {").next().unwrap_or_default();
            let fine = call["status"] == "failed" && error.contains("expected") && says.contains(&bad.field) && error.len() < 6_000;
            if !fine {
                wrong.push(format!("{name} with {} {:.200} → {} {result:.600}", bad.what, bad.input, call["status"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), all.len());

    assert_eq!(acting.server.connections(), 0);
    let [.., messages, runs] = everything(&acting.stack, &acting.space).await;
    assert_eq!((messages.as_array().unwrap().len(), runs.as_array().unwrap().len()), (waking, waking));
    for kept in ["memories", "goals"] {
        assert_eq!(acting.stack.all(&format!("/v1/agents/{}/{kept}", acting.agent)).await, [] as [Value; 0]);
    }
    let view = socket.view(&acting.space);
    assert!(view.live().is_empty() && !socket.frames().iter().any(|frame| frame.kind == "tool.requested"), "{:.500?}", view.live());
}
