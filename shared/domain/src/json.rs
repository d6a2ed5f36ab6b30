//! Parsing JSON that comes from outside.

mod surrogates;

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

pub use self::surrogates::replace_lone_surrogates;

/// The prefix of the names that `serde_json` reserves for itself. It parses the text of such a
/// field as JSON in turn, and starts to count the depth anew, so a few kilobytes could overflow the
/// stack.
const RESERVED: &str = "$serde_json::private::";

/// Parses JSON that comes from outside: a request, a frame or a token.
///
/// All JSON from outside must pass through this function before anything else is made of it.
///
/// # Errors
/// If the text is not JSON, is nested deeper than 127 levels, has a name twice in one object, or
/// has a name that `serde_json` reserves.
pub fn parse(json: impl AsRef<[u8]>) -> Result<Value, serde_json::Error> {
    let Plain(value) = serde_json::from_slice(json.as_ref())?;
    Ok(value)
}

/// Parses the input of a call that a model wrote: like [`parse`], but a lone surrogate is read as
/// U+FFFD.
///
/// # Errors
/// Those of [`parse`], except for lone surrogates.
pub fn parse_written(json: &str) -> Result<Value, serde_json::Error> {
    parse(&*replace_lone_surrogates(json))
}

/// Parses an event of a model's server, which must not lose an answer for one odd field: like
/// [`parse_written`], but of a name that appears twice in an object the last value counts.
///
/// # Errors
/// If the text is not JSON, is nested deeper than 127 levels, or has a name that `serde_json`
/// reserves.
pub fn parse_event(json: &str) -> Result<Value, serde_json::Error> {
    let Parsed::<false>(value) = serde_json::from_str(&replace_lone_surrogates(json))?;
    Ok(value)
}

/// Parses like [`parse`], but refuses whole numbers that [do not fit into 64 bits](beyond_64_bits).
///
/// # Errors
/// Those of [`parse`], and whole numbers that do not fit into 64 bits.
pub fn parse_exactly(json: impl AsRef<[u8]>) -> Result<Value, serde_json::Error> {
    let value = parse(&json)?;
    match beyond_64_bits(json.as_ref()) {
        None => Ok(value),
        Some(number) => {
            let text = format!("the number {number} does not fit into 64 bits");
            Err(serde_json::Error::custom(text))
        }
    }
}

/// The first whole number of a JSON text that does not fit into 64 bits. Parsed into a value, it
/// would silently become another number.
pub fn beyond_64_bits(json: &[u8]) -> Option<&str> {
    let mut rest = json;
    while let Some(start) = rest.iter().position(|byte| matches!(byte, b'"' | b'-' | b'0'..=b'9')) {
        rest = &rest[start..];
        let is_text = rest.starts_with(b"\"");
        let (token, after) =
            rest.split_at(if is_text { length_of_text(rest) } else { length_of_number(rest) });
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

/// At most how many values a JSON text has. Parsed, each takes up to a hundred times its bytes, so
/// a long text of short values fills the memory.
pub fn values_at_most(json: &[u8]) -> usize {
    let mut values = 1;
    let mut rest = json;
    while let Some(start) = rest.iter().position(|byte| matches!(byte, b'"' | b',' | b'[' | b'{')) {
        rest = &rest[start..];
        let is_text = rest.starts_with(b"\"");
        values += usize::from(!is_text);
        rest = &rest[if is_text { length_of_text(rest) } else { 1 }..];
    }
    values
}

fn length_of_number(json: &[u8]) -> usize {
    json.iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        .unwrap_or(json.len())
}

/// The length of the text at the start of `json`, with both quotes.
fn length_of_text(json: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = json.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 2)
}

/// A value that is parsed like [`parse`] does. For fields of types that derive `Deserialize`.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain(pub Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parsed::<true>(value) = Parsed::deserialize(deserializer)?;
        Ok(Self(value))
    }
}

/// A value without names that `serde_json` reserves. `UNIQUE` refuses a name that appears twice in
/// an object.
struct Parsed<const UNIQUE: bool>(Value);

impl<'de, const UNIQUE: bool> Deserialize<'de> for Parsed<UNIQUE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor::<UNIQUE>).map(Self)
    }
}

struct PlainVisitor<const UNIQUE: bool>;

impl<'de, const UNIQUE: bool> Visitor<'de> for PlainVisitor<UNIQUE> {
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
        while let Some(Parsed::<UNIQUE>(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if name.starts_with(RESERVED) {
                return Err(A::Error::custom(format!("a name may not start with {RESERVED}")));
            }
            let Parsed::<UNIQUE>(value) = fields.next_value()?;
            if UNIQUE && object.contains_key(&name) {
                let shown: String = name.chars().take(64).collect();
                return Err(A::Error::custom(format!("the name {shown:?} appears twice")));
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
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_can_be_parsed_from_its_json(value in any_value()) {
            prop_assert_eq!(parse(value.to_string()).unwrap(), value);
        }
    }

    proptest! {
        #[test]
        fn a_whole_number_beyond_64_bits_is_found(
            before in any_value(),
            number in any::<i128>(),
            after in any_value(),
        ) {
            let no_numbers = ["99999999999999999999\\\"", "\\"];
            let text = json!({"before": before, "-1": no_numbers, "after": after}).to_string();
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

    fn values_of(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(values_of).sum(),
            Value::Object(fields) => fields.values().map(values_of).sum(),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn no_text_has_more_values_than_its_bound(value in any_value()) {
            prop_assert!(values_of(&value) <= values_at_most(value.to_string().as_bytes()));
        }
    }

    #[test]
    fn commas_and_brackets_in_texts_are_no_values() {
        assert_eq!(values_at_most(br#"{"a,[{": [1, ",\",,"], "b": 2}"#), 5);
        assert_eq!(values_at_most(b"[1,1,1]"), 4);
        assert_eq!(values_at_most(b""), 1);
        assert_eq!(values_at_most(b"\"open, [["), 1);
    }

    #[test]
    fn deep_reserved_and_duplicate_names_are_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(127)).is_ok());
        assert!(parse(nested(128)).is_err());
        // Reserved names, also with an escaped character.
        for name in [
            "$serde_json::private::RawValue",
            r"\u0024serde_json::private::RawValue",
            "$serde_json::private::Number",
        ] {
            let text = format!(r#"{{"a": [{{"{name}": {:?}}}]}}"#, nested(100));
            assert!(parse(&text).unwrap_err().to_string().contains("may not start with"), "{text}");
        }
        assert!(
            parse(r#"{"a": 1, "b": 2, "\u0061": 3}"#)
                .unwrap_err()
                .to_string()
                .contains("\"a\" appears twice")
        );
        assert_eq!(
            parse(r#"{"b": 1, "a": [null, 1.5, "x"]}"#).unwrap(),
            json!({"b": 1, "a": [null, 1.5, "x"]})
        );
        assert!(parse("1e400").is_err() && parse("{} x").is_err() && parse("").is_err());
    }

    #[test]
    fn a_model_may_write_lone_surrogates_and_its_server_a_name_twice() {
        let lone = r#"{"a": "\ud83d"}"#;
        assert!(parse(lone).is_err());
        assert_eq!(parse_written(lone).unwrap(), json!({"a": "\u{fffd}"}));
        let twice = r#"{"a": [{"b": 1, "b": "\ude00"}]}"#;
        assert!(parse_written(twice).is_err());
        assert_eq!(parse_event(twice).unwrap(), json!({"a": [{"b": "\u{fffd}"}]}));
        let reserved = r#"{"$serde_json::private::RawValue": "[]"}"#;
        assert!(parse_event(reserved).is_err() && parse_written(reserved).is_err());
    }
}
