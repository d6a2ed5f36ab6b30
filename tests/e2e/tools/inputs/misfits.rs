//! Generates values that violate a JSON schema.

use serde_json::{Map, Value, json};

use crate::support::tool_scene::but;

/// A value that fits. Objects have only their required fields.
pub(crate) fn fitting(schema: &Value) -> Value {
    if let Some(any) = schema["enum"].as_array() {
        return any[0].clone();
    }
    match type_of(schema) {
        "string" => json!("x"),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "array" => json!([fitting(&schema["items"])]),
        "object" => {
            let required =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            Value::Object(
                required
                    .map(|name| (name.to_owned(), fitting(&schema["properties"][name])))
                    .collect::<Map<_, _>>(),
            )
        }
        other => panic!("no value of the type {other}: {schema}"),
    }
}

fn type_of(schema: &Value) -> &str {
    let first = schema["type"].as_array().map_or(&schema["type"], |types| &types[0]);
    first.as_str().unwrap_or("any")
}

/// A value that violates a schema.
pub(crate) struct Misfit {
    pub(crate) value: Value,
    /// The name of the wrong field, if the value is an object.
    pub(crate) field: Option<String>,
    /// The fault in the input.
    pub(crate) fault: &'static str,
}

/// Values that violate the schema, each in one way.
pub(crate) fn misfits(schema: &Value) -> Vec<Misfit> {
    let scalars = [wrong_types(schema), wrong_scalars(schema)].concat();
    let mut all: Vec<Misfit> =
        scalars.into_iter().map(|(value, fault)| Misfit { value, field: None, fault }).collect();
    if is(schema, "array") {
        all.extend(wrong_arrays(schema));
    }
    if is(schema, "object") {
        all.extend(wrong_objects(schema));
    }
    all
}

fn is(schema: &Value, kind: &str) -> bool {
    let kinds = schema["type"].as_array();
    schema["type"] == kind || kinds.is_some_and(|kinds| kinds.contains(&json!(kind)))
}

fn length(schema: &Value, limit: &str) -> Option<usize> {
    schema[limit].as_u64().map(|length| length as usize)
}

fn wrong_types(schema: &Value) -> Vec<(Value, &'static str)> {
    let kinds = [
        ("string", json!("a text")),
        ("integer", json!(7)),
        ("boolean", json!(false)),
        ("array", json!(["x"])),
        ("object", json!({"x": 1})),
        ("null", json!(null)),
    ];
    let fits = |kind: &str| is(schema, kind) || is(schema, "number") && kind == "integer";
    let others = kinds.into_iter().filter(|(kind, _)| !fits(kind));
    others.map(|(_, value)| (value, "another type")).collect()
}

fn wrong_scalars(schema: &Value) -> Vec<(Value, &'static str)> {
    let mut bad = Vec::new();
    if is(schema, "integer") {
        bad.push((json!(1.5), "a fraction"));
    }
    for (limit, step) in [("minimum", -1.0), ("maximum", 1.0)] {
        if let Some(limit) = schema[limit].as_f64() {
            bad.push((json!(limit + step), "a number beyond its limit"));
            bad.push((json!(limit + step * 1e15), "a number far beyond its limit"));
        }
    }
    if let Some(most) = length(schema, "maxLength") {
        bad.push((json!("é".repeat(most + 1)), "a text that is too long"));
    }
    if length(schema, "minLength") > Some(0) {
        bad.push((json!(""), "a text that is too short"));
    }
    if schema["pattern"].is_string() {
        bad.push((json!("123"), "a text that does not match its pattern"));
    }
    if schema["enum"].is_array() {
        bad.push((json!("none of these"), "a value that is not listed"));
    }
    bad
}

fn wrong_arrays(schema: &Value) -> Vec<Misfit> {
    let item = fitting(&schema["items"]);
    let mut bad = Vec::new();
    if let Some(most) = length(schema, "maxItems") {
        let value = json!(vec![item.clone(); most + 1]);
        bad.push(Misfit { value, field: None, fault: "too many items" });
    }
    if length(schema, "minItems") > Some(0) {
        bad.push(Misfit { value: json!([]), field: None, fault: "too few items" });
    }
    let with_wrong_item = misfits(&schema["items"])
        .into_iter()
        .map(|misfit| Misfit { value: json!([item, misfit.value]), ..misfit });
    bad.extend(with_wrong_item);
    bad
}

fn wrong_objects(schema: &Value) -> Vec<Misfit> {
    let fine = fitting(schema);
    let with = |name: &str, value: Value| but(fine.clone(), json!({name: value}));
    let mut bad = Vec::new();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let mut value = fine.clone();
        value.as_object_mut().unwrap().remove(name);
        bad.push(Misfit { value, field: Some(name.to_owned()), fault: "a missing field" });
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        for Misfit { value, field, fault } in misfits(property) {
            let field = field.unwrap_or_else(|| name.clone());
            bad.push(Misfit { value: with(name, value), field: Some(field), fault });
        }
    }
    if schema["additionalProperties"] == false {
        bad.push(Misfit {
            value: with("surprise", json!("!")),
            field: Some("surprise".to_owned()),
            fault: "an unknown field",
        });
    }
    bad
}
