//! Responses about plans match the schemas of `/openapi.json`.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::plans::operator::{daily, once};
use crate::support::{routes::id, stack::Stack};

/// Whether a value matches a schema and has no fields that the schema does not know.
fn fits(value: &Value, schema: &Value, description: &Value) -> bool {
    known_fields(value, schema, description).is_some_and(|known| {
        let fields = value.as_object().into_iter().flatten();
        fields.into_iter().all(|(name, _)| known.contains(name))
    })
}

/// The fields of an object that a schema knows. Returns `None` if the value does not match.
fn known_fields(value: &Value, schema: &Value, description: &Value) -> Option<BTreeSet<String>> {
    if let Some(reference) = schema["$ref"].as_str() {
        return known_fields(
            value,
            description.pointer(reference.trim_start_matches('#'))?,
            description,
        );
    }
    let parts = |name: &str| schema[name].as_array().into_iter().flatten();
    let mut known = BTreeSet::new();
    for part in parts("allOf") {
        known.extend(known_fields(value, part, description)?);
    }
    if schema["oneOf"].is_array() {
        let mut fitting: Vec<_> =
            parts("oneOf").filter_map(|part| known_fields(value, part, description)).collect();
        if fitting.len() != 1 {
            return None;
        }
        known.extend(fitting.pop()?);
    }
    if schema["anyOf"].is_array() {
        known.extend(parts("anyOf").find_map(|part| known_fields(value, part, description))?);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_kind = |name: &Value| name == kind || (name == "integer" && value.is_u64());
    let kinds = &schema["type"];
    let of_kind = kinds.is_null()
        || is_kind(kinds)
        || kinds.as_array().is_some_and(|kinds| kinds.iter().any(is_kind));
    let listed = schema["enum"].as_array().is_none_or(|values| values.contains(value));
    let complete = parts("required").all(|name| value.get(name.as_str().unwrap()).is_some());
    let items = value
        .as_array()
        .is_none_or(|items| items.iter().all(|item| fits(item, &schema["items"], description)));
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if value.get(name).is_some_and(|value| !fits(value, schema, description)) {
            return None;
        }
        known.insert(name.clone());
    }
    let closed = schema["additionalProperties"] == false;
    let unknown = closed
        && value.as_object().is_some_and(|fields| fields.keys().any(|name| !known.contains(name)));
    (of_kind && listed && complete && items && !unknown).then_some(known)
}

#[tokio::test]
async fn responses_about_plans_match_the_openapi_description() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let description = stack.get("/openapi.json").await.must_be(200);
    let described = |method: &str, path: &str, status: &str| {
        let content = &description["paths"][path][method]["responses"][status]["content"];
        content["application/json"]["schema"].clone()
    };
    let all = "/v1/agents/{id}/plans";
    let one = "/v1/agents/{id}/plans/{planId}";
    let made = stack.plan(&agent, daily("Report")).await;
    let single = stack.plan(&agent, once("Hello", "1 day")).await;
    let location = format!("/v1/agents/{agent}/plans/{}", id(&made));
    let paused = stack.put(&location, json!({ "status": "paused" })).await.must_be(200);
    let run = stack.call(Method::POST, &format!("{location}/run"), None).await.must_be(202);
    let listed = stack.get(&format!("/v1/agents/{agent}/plans")).await.must_be(200);
    let creates = described("post", all, "201");
    let changes = described("put", one, "200");
    let runs = described("post", "/v1/agents/{id}/plans/{planId}/run", "202");
    for (value, schema) in [
        (made, &creates),
        (single, &creates),
        (paused, &changes),
        (run, &runs),
        (listed, &described("get", all, "200")),
    ] {
        assert!(
            schema.is_object() && fits(&value, schema, &description),
            "{value} does not match {schema}"
        );
    }
    assert!(!fits(&json!({ "id": 5 }), &creates, &description));
    let request = &description["paths"][all]["post"]["requestBody"]["content"];
    let request = &request["application/json"]["schema"];
    for body in [daily("Report"), once("Hello", "1 day")] {
        assert!(fits(&body, request, &description), "{body} does not match {request}");
    }
}
