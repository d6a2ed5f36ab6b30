//! Reading JSON of others.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// What names begin with that `serde_json` keeps for itself. It takes a text below such a name for JSON and reads that in turn, with a fresh
/// limit of depth: a few kilobytes could overflow the stack.
const RESERVED: &str = "$serde_json::private::";

/// Reads JSON that comes from outside (a request, a frame, a token, a model) into a value: at most 127 deep, with no name twice in an object,
/// and none of those that would be read as something else later. Everything of that kind is to be read by this, before anything else is made of it.
///
/// # Errors
/// Where it is no such JSON.
pub fn parse(json: impl AsRef<[u8]>) -> Result<Value, serde_json::Error> {
    let Plain(value) = serde_json::from_slice(json.as_ref())?;
    Ok(value)
}

/// The same; what holds a whole number [beyond 64 bits](beyond_64_bits) is refused.
///
/// # Errors
/// Where it is no such JSON.
pub fn parse_exactly(json: impl AsRef<[u8]>) -> Result<Value, serde_json::Error> {
    let value = parse(&json)?;
    match beyond_64_bits(json.as_ref()) {
        None => Ok(value),
        Some(number) => Err(serde_json::Error::custom(format!("{number} is beyond 64 bits"))),
    }
}

/// The first whole number of a JSON text that 64 bits do not hold: read into a value it would be another one, without a word.
pub fn beyond_64_bits(json: &[u8]) -> Option<&str> {
    let mut rest = json;
    while let Some(start) = rest.iter().position(|byte| matches!(byte, b'"' | b'-' | b'0'..=b'9')) {
        rest = &rest[start..];
        let is_text = rest.starts_with(b"\"");
        let (token, after) = rest.split_at(if is_text { length_of_text(rest) } else { length_of_number(rest) });
        if !is_text && let Ok(number) = std::str::from_utf8(token) {
            let is_whole = !number.contains(['.', 'e', 'E']);
            if is_whole && number.parse::<u64>().is_err() && number.parse::<i64>().is_err() {
                return Some(number);
            }
        }
        rest = after;
    }
    None
}

fn length_of_number(json: &[u8]) -> usize {
    json.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).unwrap_or(json.len())
}

/// With both of its quotes.
fn length_of_text(json: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = json.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 2)
}

/// A value that is read like that, for the fields of what is read into a certain shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain(pub Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Self)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if name.starts_with(RESERVED) {
                return Err(A::Error::custom(format!("a name may not begin with {RESERVED}")));
            }
            let Plain(value) = fields.next_value()?;
            if object.contains_key(&name) {
                let shown: String = name.chars().take(64).collect();
                return Err(A::Error::custom(format!("the name {shown:?} stands twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_read_as_it_was_written(value in any_value()) {
            prop_assert_eq!(parse(value.to_string()).unwrap(), value);
        }
    }

    proptest! {
        #[test]
        fn a_whole_number_is_found_where_64_bits_do_not_hold_it(before in any_value(), number in any::<i128>(), after in any_value()) {
            let text = json!({ "before": before, "-1": ["99999999999999999999\\\"", "\\"], "after": after }).to_string();
            prop_assert_eq!(beyond_64_bits(text.as_bytes()), None);
            prop_assert_eq!(parse_exactly(&text).unwrap(), parse(&text).unwrap());
            for number in [number, number >> 63] {
                let text = format!(r#"[{text}, {{"\\": {number}}}, 1]"#);
                let fits = u64::try_from(number).is_ok() || i64::try_from(number).is_ok();
                let expected = (!fits).then(|| number.to_string());
                prop_assert_eq!(beyond_64_bits(text.as_bytes()), expected.as_deref());
                prop_assert_eq!(parse_exactly(&text).is_ok(), fits);
            }
        }
    }

    #[test]
    fn what_is_deep_or_means_something_else_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(127)).is_ok());
        assert!(parse(nested(128)).is_err());
        // A text that would be read again, in every spelling of its name.
        for name in ["$serde_json::private::RawValue", r"\u0024serde_json::private::RawValue", "$serde_json::private::Number"] {
            let text = format!(r#"{{"a": [{{"{name}": {:?}}}]}}"#, nested(100));
            assert!(parse(&text).unwrap_err().to_string().contains("may not begin with"), "{text}");
        }
        assert!(parse(r#"{"a": 1, "b": 2, "\u0061": 3}"#).unwrap_err().to_string().contains("\"a\" stands twice"));
        assert_eq!(parse(r#"{"b": 1, "a": [null, 1.5, "x"]}"#).unwrap(), json!({"b": 1, "a": [null, 1.5, "x"]}));
        assert!(parse("1e400").is_err() && parse("{} x").is_err() && parse("").is_err());
    }
}
