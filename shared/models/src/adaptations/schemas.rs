//! Schemas of tools for servers that know only a part of JSON Schema.

use serde_json::{Map, Value};

/// Whether a refusal names a part of a schema that [`simplify`] removes.
pub(super) fn are_refused(words: &str) -> bool {
    let words = words.to_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    let about = ["schema", "parameters", "properties", "function_declarations", "tools"];
    says(&["$schema"]) || says(&about) && says(&["format", "null", "type_enum", "not repeating"])
}

/// Removes `$schema`, `format` and the type `null` from the schemas of a request's tools.
pub(super) fn simplify(body: &mut Value) {
    let of_tool = ["/function/parameters", "/input_schema", "/toolSpec/inputSchema/json"];
    for list in ["/tools", "/toolConfig/tools"] {
        let Some(Value::Array(tools)) = body.pointer_mut(list) else { continue };
        for tool in tools {
            for at in of_tool {
                tool.pointer_mut(at).map(simplify_schema);
            }
        }
    }
}

fn simplify_schema(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    fields.shift_remove("$schema");
    fields.shift_remove("format");
    if fields.get("default").is_some_and(Value::is_null) {
        fields.shift_remove("default");
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &mut types[..] {
            fields["type"] = only.take();
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for choice in ["anyOf", "oneOf"] {
        without_null(fields, choice);
    }
    for (name, part) in fields.iter_mut() {
        match (name.as_str(), part) {
            // These name schemas as they like.
            (
                "properties" | "patternProperties" | "$defs" | "definitions",
                Value::Object(named),
            ) => {
                named.values_mut().for_each(simplify_schema);
            }
            ("enum" | "const" | "default" | "examples" | "required", _) => {}
            (_, Value::Array(schemas)) => schemas.iter_mut().for_each(simplify_schema),
            (_, part) => simplify_schema(part),
        }
    }
}

/// Removes the choice `null`. If one other is left, it takes the place of the choice.
fn without_null(fields: &mut Map<String, Value>, choice: &str) {
    let Some(Value::Array(schemas)) = fields.get_mut(choice) else { return };
    let before = schemas.len();
    schemas.retain(|schema| schema["type"] != "null");
    if schemas.len() == before || schemas.len() != 1 {
        return;
    }
    let Some(Value::Array(mut left)) = fields.shift_remove(choice) else { return };
    if let Some(Value::Object(only)) = left.pop() {
        for (name, value) in only {
            fields.entry(name).or_insert(value);
        }
    }
}
