//! The arguments of a tool that its server wants as headers, too (`x-mcp-header` in the schema), so
//! that proxies can route calls without reading them.

use std::collections::BTreeSet;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// The annotation in a schema.
const ANNOTATION: &str = "x-mcp-header";
/// The beginning of the names of these headers.
const PREFIX: &str = "mcp-param-";
/// What surrounds a value that is not plain text.
const ENCODED: (&str, &str) = ("=?base64?", "?=");
/// The keywords of a schema whose values are no schemas.
const DATA: [&str; 5] = ["default", "const", "enum", "examples", "dependentRequired"];
/// The keywords whose values have schemas by name.
const BY_NAME: [&str; 5] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties"];

/// An argument that is sent as a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParamHeader {
    path: Vec<String>,
    name: HeaderName,
}

/// The arguments that a schema wants as headers. `None` if its annotations are not valid: such a
/// tool must not be used.
pub(super) fn of_schema(schema: &Value) -> Option<Vec<ParamHeader>> {
    if schema.get(ANNOTATION).is_some() || has_misplaced(schema, true) {
        return None;
    }
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    let names: BTreeSet<_> = found.iter().map(|header| header.name.as_str()).collect();
    (names.len() == found.len()).then_some(found)
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) -> Option<()> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Some(());
    };
    for (property, schema) in properties {
        path.push(property.clone());
        if let Some(annotation) = schema.get(ANNOTATION) {
            let name = annotation.as_str().filter(|name| !name.is_empty())?;
            let name = HeaderName::from_bytes(format!("{PREFIX}{name}").as_bytes()).ok()?;
            if !matches!(schema["type"].as_str(), Some("string" | "integer" | "boolean")) {
                return None;
            }
            found.push(ParamHeader { path: path.clone(), name });
        }
        collect(schema, path, found)?;
        path.pop();
    }
    Some(())
}

/// Whether there is an annotation elsewhere than at a property that is reached through `properties`
/// alone. `is_reached` says whether `schema` is such a property, or the root.
fn has_misplaced(schema: &Value, is_reached: bool) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(keyword, value)| match keyword.as_str() {
            ANNOTATION => !is_reached,
            "properties" => any_has_misplaced(value, is_reached),
            keyword if BY_NAME.contains(&keyword) => any_has_misplaced(value, false),
            keyword if DATA.contains(&keyword) => false,
            _ => has_misplaced(value, false),
        }),
        Value::Array(items) => items.iter().any(|item| has_misplaced(item, false)),
        _ => false,
    }
}

fn any_has_misplaced(schemas: &Value, is_reached: bool) -> bool {
    let mut schemas = schemas.as_object().into_iter().flat_map(|by_name| by_name.values());
    schemas.any(|schema| has_misplaced(schema, is_reached))
}

/// The headers of a call with this input.
pub(super) fn of_call(headers: &[ParamHeader], input: &Value) -> HeaderMap {
    let values = headers.iter().filter_map(|header| {
        let at = header.path.iter().try_fold(input, |value, property| value.get(property))?;
        Some((header.name.clone(), value_of(at)?))
    });
    values.collect()
}

fn value_of(value: &Value) -> Option<HeaderValue> {
    match value {
        Value::String(text) => encoded(text),
        Value::Bool(_) | Value::Number(_) => encoded(&value.to_string()),
        _ => None,
    }
}

/// A text as the value of a header. One that no header can carry is encoded.
pub(super) fn encoded(text: &str) -> Option<HeaderValue> {
    let (before, after) = ENCODED;
    let is_printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let has_outer_blanks = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with(before) && text.ends_with(after);
    if is_printable && !has_outer_blanks && !looks_encoded {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("{before}{}{after}", BASE64.encode(text))).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(properties: Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn annotated_arguments_become_headers() {
        let place = schema(json!({"name": {"type": "string", "x-mcp-header": "Place"}}));
        let headers = of_schema(&schema(json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "place": place,
            "text": {"type": "string"},
        })))
        .unwrap();
        let input = json!({"region": "eu", "count": 3, "place": {"name": "Zürich"}, "text": "x"});
        let sent = of_call(&headers, &input);
        let expected = [
            ("mcp-param-region", "eu"),
            ("mcp-param-count", "3"),
            ("mcp-param-place", "=?base64?WsO8cmljaA==?="),
        ];
        let expected: HeaderMap = expected
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .into_iter()
            .collect();
        assert_eq!(sent, expected);
        assert!(of_call(&headers, &json!({"region": null})).is_empty());
    }

    #[test]
    fn invalid_annotations_are_found() {
        let annotated = |kind: &str, name: Value| {
            of_schema(&schema(json!({"a": {"type": kind, "x-mcp-header": name}})))
        };
        assert!(annotated("string", json!("A")).is_some());
        for name in [json!(""), json!("a b"), json!("ä"), json!(1)] {
            assert_eq!(annotated("string", name.clone()), None, "{name}");
        }
        assert_eq!(annotated("object", json!("A")), None);
        assert_eq!(annotated("number", json!("A")), None);
        let twice = json!({
            "a": {"type": "string", "x-mcp-header": "A"},
            "b": {"type": "string", "x-mcp-header": "a"},
        });
        assert_eq!(of_schema(&schema(twice)), None);
        let item = json!({"type": "string", "x-mcp-header": "A"});
        assert_eq!(of_schema(&schema(json!({"a": {"type": "array", "items": item}}))), None);
        assert_eq!(of_schema(&json!({"type": "object", "x-mcp-header": "A"})), None);
        let data = json!({"a": {"type": "object", "default": {"x-mcp-header": 1}}});
        assert_eq!(of_schema(&schema(data)), Some(Vec::new()));
    }
}
