//! Values from JSON and to JSON.

use jiff::SignedDuration;
use serde_json::{Map as JsonMap, Number, Value as Json};

use crate::{
    limits::{DEEPEST_VALUE, Fault, quoted},
    values::{Key, Value},
};

impl Value {
    /// Converts an input, unless it is too large or nested too deeply.
    pub(crate) fn from_json(json: &Json) -> Result<Self, Fault> {
        Self::from_json_within(json, DEEPEST_VALUE)
    }

    fn from_json_within(json: &Json, depth: usize) -> Result<Self, Fault> {
        let inner = || {
            depth.checked_sub(1).ok_or(Fault::Limit(
                "the input is nested too deeply; lists and maps may have at most 127 levels",
            ))
        };
        match json {
            Json::Null => Ok(Self::Null),
            Json::Bool(value) => Ok(Self::Bool(*value)),
            Json::Number(number) => Ok(Self::from_number(number)),
            Json::String(text) => Ok(Self::string(text)),
            Json::Array(items) => {
                let depth = inner()?;
                // `collect` into a result would reserve at least four items for every list.
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(Self::from_json_within(item, depth)?);
                }
                Self::list(values)
            }
            Json::Object(fields) => {
                let depth = inner()?;
                let mut entries = Vec::with_capacity(fields.len());
                for (key, value) in fields {
                    entries.push((
                        Key::String(key.as_str().into()),
                        Self::from_json_within(value, depth)?,
                    ));
                }
                Self::map(entries)
            }
        }
    }

    fn from_number(number: &Number) -> Self {
        let int = number.as_i64().map(Self::Int);
        let uint = || number.as_u64().map(Self::Uint);
        int.or_else(uint).unwrap_or_else(|| Self::Double(number.as_f64().unwrap_or(f64::NAN)))
    }

    /// Converts a result.
    pub(crate) fn to_json(&self) -> Result<Json, Fault> {
        match self {
            Self::Null => Ok(Json::Null),
            Self::Bool(value) => Ok((*value).into()),
            Self::Int(value) => Ok((*value).into()),
            Self::Uint(value) => Ok((*value).into()),
            Self::Double(value) => Number::from_f64(*value).map(Json::Number).ok_or_else(|| {
                Fault::error(format!("the result has a number that JSON can't write: {value}"))
            }),
            Self::String(text) => Ok(Json::String(text.as_ref().to_owned())),
            Self::List(list) => {
                let mut items = Vec::with_capacity(list.items.len());
                for item in &list.items {
                    items.push(item.to_json()?);
                }
                Ok(Json::Array(items))
            }
            Self::Map(map) => {
                let mut fields = JsonMap::new();
                for (key, value) in &map.entries {
                    if fields.insert(key.text(), value.to_json()?).is_some() {
                        return Err(Fault::error(format!(
                            "two keys of a map in the result are both written as {}",
                            quoted(&key.text())
                        )));
                    }
                }
                Ok(Json::Object(fields))
            }
            Self::Timestamp(time) => Ok(Json::String(time.text())),
            Self::Duration(duration) => Ok(Json::String(duration_text(*duration))),
            Self::Bytes(_) => Err(Fault::error(
                "the result has bytes, which JSON can't write; make them a string with string(…)",
            )),
            Self::Type(_) => Err(Fault::error(
                "the result has a type, which JSON can't write; \
                 compare it, as in type(input) == string",
            )),
        }
    }
}

/// A duration in seconds, as the function `string` and JSON write it.
pub(crate) fn duration_text(duration: SignedDuration) -> String {
    let sign = if duration.is_negative() { "-" } else { "" };
    let fraction = match duration.subsec_nanos().unsigned_abs() {
        0 => String::new(),
        nanos => format!(".{nanos:09}").trim_end_matches('0').to_owned(),
    };
    format!("{sign}{}{fraction}s", duration.as_secs().unsigned_abs())
}
