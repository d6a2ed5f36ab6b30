//! Reads the fields of a provider's event one by one. A field of an unexpected type counts as
//! missing: it must not cost the answer.

use serde_json::{Map, Value};

/// The text of a field, if it is a text.
pub(crate) fn text<'a>(event: &'a Value, name: &str) -> Option<&'a str> {
    event.get(name).and_then(Value::as_str)
}

/// The text of a field, if it is a text that is not empty.
pub(crate) fn some_text<'a>(event: &'a Value, name: &str) -> Option<&'a str> {
    text(event, name).filter(|text| !text.is_empty())
}

/// The highest count that is believed: sums of counts must not overflow.
const MOST: u64 = 1 << 40;

/// A count. Some servers write whole numbers with a point.
pub(crate) fn count(event: &Value, name: &str) -> Option<u64> {
    let number = event.get(name)?;
    let whole = || number.as_f64().filter(|count| *count >= 0.0).map(|count| count as u64);
    number.as_u64().or_else(whole).map(|count| count.min(MOST))
}

/// The items of a list. Some servers write a single item without its list.
pub(crate) fn items(list: Option<&Value>) -> &[Value] {
    match list {
        Some(Value::Array(items)) => items,
        Some(item @ Value::Object(_)) => std::slice::from_ref(item),
        _ => &[],
    }
}

/// A part of a call's input as JSON text. Some servers send the object itself, and an empty list
/// for an empty object.
pub(crate) fn input_text(input: Option<&Value>) -> String {
    match input {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(_)) => input.map(Value::to_string).unwrap_or_default(),
        Some(Value::Array(items)) if !items.is_empty() => {
            input.map(Value::to_string).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// The fields of an object with these names, except for nulls.
pub(crate) fn pick(object: &Value, names: &[&str]) -> Map<String, Value> {
    let field = |name: &&str| {
        let value = object.get(*name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.clone()))
    };
    names.iter().filter_map(field).collect()
}

/// The error that an event reports. Some servers send an empty `error` with each event, so only
/// text or fields count where the event is otherwise part of an answer.
pub(crate) fn reported_error(event: &Value, is_part_of_answer: bool) -> Option<&Value> {
    // Google's servers put the error in a list.
    if let Value::Array(items) = event {
        return items.iter().find_map(|item| reported_error(item, false));
    }
    let error = event.get("error")?;
    let is_said = match error {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.trim().is_empty(),
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => !is_part_of_answer,
    };
    is_said.then_some(error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_input_is_a_text_or_an_object() {
        let cases = [
            (json!("{\"a\""), "{\"a\""),
            (json!({"a": 1}), "{\"a\":1}"),
            (json!({}), "{}"),
            (json!([1]), "[1]"),
            (json!([]), ""),
            (json!(null), ""),
            (json!(5), ""),
        ];
        for (input, text) in cases {
            assert_eq!(input_text(Some(&input)), text, "{input}");
        }
        assert_eq!(input_text(None), "");
    }

    #[test]
    fn only_an_error_that_says_something_ends_an_answer() {
        for error in [json!({"message": "no"}), json!("no")] {
            let event = json!({"choices": [], "error": error});
            assert_eq!(reported_error(&event, true), Some(&error));
        }
        for nothing in [json!({}), json!(""), json!(null), json!(false), json!(0), json!([])] {
            let event = json!({"choices": [], "error": nothing});
            assert_eq!(reported_error(&event, true), None, "{nothing}");
        }
        let listed = json!([{"error": {"code": 429}}]);
        assert_eq!(reported_error(&listed, false), Some(&json!({"code": 429})));
        assert_eq!(reported_error(&json!({"error": 500}), false), Some(&json!(500)));
    }
}
