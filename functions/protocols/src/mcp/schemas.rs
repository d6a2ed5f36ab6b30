//! The schemas of the inputs of tools.

use rmcp::schemars::Schema;
use serde_json::Value;

/// Leaves `null` out of the types of optional fields: it is enough that they may be absent. Some
/// clients drop a tool with a field of two types, since their models know only one.
pub(super) fn without_null(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flatten().map(|(_, property)| property) {
        let Some(property) = property.as_object_mut() else { continue };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                property.insert("type".to_owned(), only);
            }
        }
        if property.get("default").is_some_and(Value::is_null) {
            property.remove("default");
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::schemars::json_schema;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_optional_field_has_one_type() {
        let mut schema = json_schema!({
            "type": "object",
            "properties": {
                "limit": {"type": ["integer", "null"], "default": null, "minimum": 0},
                "text": {"type": "string", "default": ""},
                "any": true,
            },
        });
        without_null(&mut schema);
        let expected = json!({
            "limit": {"type": "integer", "minimum": 0},
            "text": {"type": "string", "default": ""},
            "any": true,
        });
        assert_eq!(schema.get("properties"), Some(&expected));
    }
}
