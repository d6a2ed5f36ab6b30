//! Rules on the fields of a request.

use serde_json::Value;

use crate::models::dialects::rules::Rule;

/// The body has no field but these.
pub(crate) fn no_unknown_field(known: &'static [&'static str], words: &'static str) -> Rule {
    Rule::new("unknown field", words, move |received| {
        let mut fields = received.body.as_object()?.keys();
        fields.find(|field| !known.contains(&field.as_str())).cloned()
    })
}

/// The messages of a role have no field but these.
pub(crate) fn fields_of_role(
    role: &'static str,
    known: &'static [&'static str],
    words: &'static str,
) -> Rule {
    Rule::new("unknown field of a message", words, move |received| {
        let messages = received.messages().iter().filter(|message| message["role"] == role);
        let mut fields = messages.filter_map(Value::as_object).flat_map(|message| message.keys());
        fields.find(|field| !known.contains(&field.as_str())).cloned()
    })
}

/// The field is refused, whatever its value.
pub(crate) fn refused(field: &'static str, words: &'static str) -> Rule {
    Rule::new(field, words, move |received| received.body.get(field).map(Value::to_string))
}

/// The field is refused for the models whose name begins so.
pub(crate) fn refused_for(model: &'static str, field: &'static str, words: &'static str) -> Rule {
    Rule::new(field, words, move |received| {
        let is_model = received.model.starts_with(model);
        received.body.get(field).filter(|_| is_model).map(Value::to_string)
    })
}

/// The field at this pointer is required.
pub(crate) fn required(at: &'static str, words: &'static str) -> Rule {
    Rule::new("required field", words, move |received| {
        received.body.pointer(at).is_none_or(Value::is_null).then(|| at.to_owned())
    })
}

/// The schemas of tools do not have this word, at any depth.
pub(crate) fn no_schema_word(word: &'static str, words: &'static str) -> Rule {
    Rule::new("word of a schema", words, move |received| {
        has_word(&received.body["tools"], word).then(|| word.to_owned())
    })
}

fn has_word(schema: &Value, word: &str) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.contains_key(word) || fields.values().any(|field| has_word(field, word))
        }
        Value::Array(items) => items.iter().any(|item| has_word(item, word)),
        _ => false,
    }
}
