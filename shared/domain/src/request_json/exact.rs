//! Reads JSON into Rust types as JSON Schema defines it. Serde's derives would also accept an array
//! for an object (the fields in order) and refuse `5.0` where `5` is accepted.

use serde::{
    Deserializer,
    de::{
        Error as _, IntoDeserializer, Unexpected, Visitor,
        value::{MapDeserializer, SeqDeserializer, StringDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::{Number, Value};

use super::shape_error::ShapeError;

/// 2⁵³: below it, every whole number has a float of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A deserializer for a JSON value.
pub(super) struct Exact(pub(super) Value);

impl<'de> Deserializer<'de> for Exact {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => visit_number(number, visitor),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.into_iter().map(Exact));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Value::Object(fields) => visitor.visit_map(MapDeserializer::new(
                fields.into_iter().map(|(name, value)| (name, Exact(value))),
            )),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Array(_) => Err(ShapeError::invalid_type(Unexpected::Seq, &"an object")),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    /// The inputs have no enums with data that are read this way, so an enum is a string.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::String(variant) => {
                let variant: StringDeserializer<ShapeError> = variant.into_deserializer();
                visitor.visit_enum(variant)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl IntoDeserializer<'_, ShapeError> for Exact {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: Number, visitor: V) -> Result<V::Value, ShapeError> {
    let number = whole(number);
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(number), ..) => visitor.visit_u64(number),
        (None, Some(number), _) => visitor.visit_i64(number),
        (None, None, Some(number)) => visitor.visit_f64(number),
        (None, None, None) => Err(ShapeError::custom("expected a number of at most 64 bits")),
    }
}

/// Turns a float such as `5.0` into a whole number.
fn whole(number: Number) -> Number {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < WHOLE => {
            Number::from(float as i64)
        }
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        count: Option<u32>,
        share: f64,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        inner: Inner,
        list: Vec<Inner>,
        free: Value,
    }

    fn read(value: Value) -> Result<Outer, String> {
        Outer::deserialize(Exact(value)).map_err(|error| error.to_string())
    }

    #[test]
    fn whole_numbers_may_be_written_as_floats() {
        let inner = |count| Inner { count, share: 2.0 };
        let value = json!({
            "inner": { "count": 5.0, "share": 2.0 },
            "list": [{ "count": null, "share": 2 }],
            "free": [1.5, "x", [null]],
        });
        assert_eq!(
            read(value),
            Ok(Outer {
                inner: inner(Some(5)),
                list: vec![inner(None)],
                free: json!([1.5, "x", [null]])
            })
        );
        assert!(
            read(json!({ "inner": { "count": 5.5, "share": 2.0 }, "list": [], "free": 1 }))
                .unwrap_err()
                .contains("5.5")
        );
    }

    #[test]
    fn an_array_is_not_accepted_for_an_object() {
        for value in [
            json!([[5, 2.0], [], 1]),
            json!({ "inner": [5, 2.0], "list": [], "free": 1 }),
            json!({ "inner": { "count": 5, "share": 2.0 }, "list": [[5, 2.0]], "free": 1 }),
        ] {
            assert!(read(value).unwrap_err().contains("expected an object"));
        }
    }
}
