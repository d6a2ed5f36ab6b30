//! The query of a request. A parameter that is unknown or can't be read is refused with 400.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{
    Deserializer,
    de::{
        DeserializeOwned, Error as _, IntoDeserializer, Unexpected, Visitor,
        value::{MapDeserializer, StringDeserializer},
    },
    forward_to_deserialize_any,
};
use smartspace_domain::{
    Error, Result,
    request_json::{ShapeError, pointer_of},
};

use crate::{Api, answers::Refusal};

/// The parameters of a request's query.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Api>> for Query<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Api>) -> Result<Self, Refusal> {
        Ok(Self(read(parts.uri.query().unwrap_or_default())?))
    }
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T> {
    let parameters = url::form_urlencoded::parse(query.as_bytes())
        .map(|(name, value)| (name.into_owned(), Parameter(value.into_owned())));
    let parameters: MapDeserializer<'_, _, ShapeError> = MapDeserializer::new(parameters);
    serde_path_to_error::deserialize(parameters).map_err(|error| {
        let pointer = pointer_of(error.path());
        Error::Malformed(match pointer.strip_prefix('/') {
            Some(name) => format!("query parameter `{name}`: {}", error.inner()),
            None => format!("query: {}", error.inner()),
        })
    })
}

/// The value of a parameter. It is text, which is parsed if a number is expected.
struct Parameter(String);

macro_rules! parsed {
    ($($method:ident: $number:ty, $visit:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
            match self.0.parse::<$number>() {
                Ok(number) => visitor.$visit(number),
                Err(_) => Err(ShapeError::invalid_value(Unexpected::Str(&self.0), &visitor)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Parameter {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        let value: StringDeserializer<ShapeError> = self.0.into_deserializer();
        visitor.visit_enum(value)
    }

    parsed! {
        deserialize_bool: bool, visit_bool;
        deserialize_i8: i8, visit_i8;
        deserialize_i16: i16, visit_i16;
        deserialize_i32: i32, visit_i32;
        deserialize_i64: i64, visit_i64;
        deserialize_u8: u8, visit_u8;
        deserialize_u16: u16, visit_u16;
        deserialize_u32: u32, visit_u32;
        deserialize_u64: u64, visit_u64;
        deserialize_f32: f32, visit_f32;
        deserialize_f64: f64, visit_f64;
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl IntoDeserializer<'_, ShapeError> for Parameter {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Status {
        Queued,
        Failed,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Parameters {
        after: Option<u64>,
        limit: Option<usize>,
        cursor: Option<String>,
        status: Option<Status>,
    }

    #[test]
    fn a_query_is_read() {
        let expected = Parameters {
            after: Some(7),
            limit: None,
            cursor: Some("a b&".into()),
            status: Some(Status::Failed),
        };
        assert_eq!(read::<Parameters>("after=7&cursor=a+b%26&status=failed"), Ok(expected));
        let nothing = Parameters { after: None, limit: None, cursor: None, status: None };
        assert_eq!(read::<Parameters>(""), Ok(nothing));
    }

    #[test]
    fn a_wrong_parameter_is_explained() {
        let refused = |query| read::<Parameters>(query).unwrap_err();
        for (query, expected) in [
            ("after=x", "`after`: expected a whole number, 0 or more, got \"x\""),
            ("limit=-1", "`limit`: expected a whole number, 0 or more, got \"-1\""),
            ("limit=", "`limit`: expected a whole number, 0 or more, got \"\""),
            ("status=old", "`status`: expected one of `queued`, `failed`, got \"old\""),
        ] {
            assert_eq!(refused(query), Error::Malformed(format!("query parameter {expected}")));
        }
        assert!(refused("colour=red").to_string().contains("unknown field `colour`"));
        assert!(refused("after=1&after=2").to_string().contains("duplicate field `after`"));
    }
}
