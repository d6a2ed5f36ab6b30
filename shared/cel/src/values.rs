//! The values of expressions, from JSON and to it.

use std::{cmp::Ordering, rc::Rc};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map as JsonMap, Number, Value as Json};

use super::{
    limits::{DEEPEST_VALUE, Fault, LARGEST_VALUE, quoted},
    times,
};

/// Bytes of a JSON value, and of what a map of JSON allocates beside its entries.
const JSON_VALUE: usize = 32;
const JSON_MAP: usize = 600;

/// A value. Copies share what they hold, so that they cost nothing.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Rc<str>),
    Bytes(Rc<[u8]>),
    List(Rc<List>),
    Map(Rc<Map>),
    Timestamp(Timestamp),
    Duration(SignedDuration),
    /// A type, by its name.
    Type(&'static str),
}

/// A list, with its extent.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: Vec<Value>,
    extent: Extent,
}

/// A map, with its extent.
#[derive(Debug)]
pub(crate) struct Map {
    /// Ordered by key, each key once.
    pub(crate) entries: Vec<(Key, Value)>,
    extent: Extent,
}

/// A key of a map. An int and a uint of the same number are the same key.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(Rc<str>),
}

/// How far a value reaches when it is written out. Values share parts, so that this may be much more than they take in memory.
#[derive(Clone, Copy, Debug)]
struct Extent {
    bytes: usize,
    depth: usize,
}

impl Extent {
    /// Of a value around others. What is written out, compared or dropped recurses over this depth.
    fn around(bytes: usize, parts: impl Iterator<Item = Self>) -> Result<Self, Fault> {
        let sum = |sum: Self, part: Self| Self { bytes: sum.bytes.saturating_add(part.bytes), depth: sum.depth.max(part.depth) };
        let inner = parts.fold(Self { bytes, depth: 0 }, sum);
        if inner.bytes > LARGEST_VALUE {
            return Err(Fault::Limit("a value is too large"));
        }
        if inner.depth >= DEEPEST_VALUE {
            return Err(Fault::Limit("lists and maps are nested too deep; at most 127 may lie within each other"));
        }
        Ok(Self { depth: inner.depth + 1, ..inner })
    }
}

impl Value {
    /// Of a list, unless it becomes too large or too deep.
    pub(crate) fn list(items: Vec<Self>) -> Result<Self, Fault> {
        let extent = Extent::around(JSON_VALUE, items.iter().map(Self::extent))?;
        Ok(Self::List(Rc::new(List { items, extent })))
    }

    /// Of a map, unless it becomes too large or too deep, or a key comes twice.
    pub(crate) fn map(mut entries: Vec<(Key, Self)>) -> Result<Self, Fault> {
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Fault::error(format!("a map has the key {} twice", pair[0].0.quoted())));
        }
        let parts = entries.iter().map(|(key, value)| {
            let Extent { bytes, depth } = value.extent();
            Extent { bytes: bytes.saturating_add(JSON_VALUE + key.len()), depth }
        });
        let bytes = if entries.is_empty() { JSON_VALUE } else { JSON_VALUE + JSON_MAP };
        let extent = Extent::around(bytes, parts)?;
        Ok(Self::Map(Rc::new(Map { entries, extent })))
    }

    pub(crate) fn string(text: &str) -> Self {
        Self::String(text.into())
    }

    /// The name of its type.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Timestamp(_) => "timestamp",
            Self::Duration(_) => "duration",
            Self::Type(_) => "type",
        }
    }

    /// As a key; a double is one if it is a whole number.
    pub(crate) fn key(&self) -> Option<Key> {
        match self {
            Self::Bool(value) => Some(Key::Bool(*value)),
            Self::Int(value) => Some(Key::Int(*value)),
            Self::Uint(value) => Some(Key::Uint(*value)),
            Self::Double(value) => whole(*value).and_then(|number| i64::try_from(number).ok()).map(Key::Int),
            Self::String(value) => Some(Key::String(Rc::clone(value))),
            _ => None,
        }
    }

    /// The order of two numbers, whatever their types. None for NaN, and for what is no number.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Double(one), Self::Double(other)) => one.partial_cmp(other),
            (Self::Double(one), other) => Some(order(other.integer()?, *one)?.reverse()),
            (one, Self::Double(other)) => order(one.integer()?, *other),
            (one, other) => Some(one.integer()?.cmp(&other.integer()?)),
        }
    }

    /// The number of an int or a uint.
    fn integer(&self) -> Option<i128> {
        match self {
            Self::Int(value) => Some((*value).into()),
            Self::Uint(value) => Some((*value).into()),
            _ => None,
        }
    }

    fn extent(&self) -> Extent {
        match self {
            Self::List(list) => list.extent,
            Self::Map(map) => map.extent,
            Self::String(text) => Extent { bytes: JSON_VALUE + text.len(), depth: 0 },
            Self::Bytes(bytes) => Extent { bytes: JSON_VALUE + bytes.len(), depth: 0 },
            _ => Extent { bytes: JSON_VALUE, depth: 0 },
        }
    }

    /// Reads an input, unless it is too large or too deep.
    pub(crate) fn from_json(json: &Json) -> Result<Self, Fault> {
        Self::from_json_within(json, DEEPEST_VALUE)
    }

    fn from_json_within(json: &Json, depth: usize) -> Result<Self, Fault> {
        let inner = || {
            depth.checked_sub(1).ok_or(Fault::Limit("the input is nested too deep; at most 127 lists and maps may lie within each other"))
        };
        match json {
            Json::Null => Ok(Self::Null),
            Json::Bool(value) => Ok(Self::Bool(*value)),
            Json::Number(number) => Ok(Self::from_number(number)),
            Json::String(text) => Ok(Self::string(text)),
            Json::Array(items) => {
                let depth = inner()?;
                // Collected as results, each list would have room for four items at least.
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
                    entries.push((Key::String(key.as_str().into()), Self::from_json_within(value, depth)?));
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

    /// Writes a result.
    pub(crate) fn to_json(&self) -> Result<Json, Fault> {
        match self {
            Self::Null => Ok(Json::Null),
            Self::Bool(value) => Ok((*value).into()),
            Self::Int(value) => Ok((*value).into()),
            Self::Uint(value) => Ok((*value).into()),
            Self::Double(value) => Number::from_f64(*value)
                .map(Json::Number)
                .ok_or_else(|| Fault::error(format!("the result has a number that JSON can't write: {value}"))),
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
                        return Err(Fault::error(format!("two keys of a map of the result are both written as {}", quoted(&key.text()))));
                    }
                }
                Ok(Json::Object(fields))
            }
            Self::Timestamp(time) => Ok(Json::String(time.to_string())),
            Self::Duration(duration) => Ok(Json::String(times::duration_text(*duration))),
            Self::Bytes(_) => Err(Fault::error("the result has bytes, which JSON can't write; make them a string with string(…)")),
            Self::Type(_) => Err(Fault::error("the result has a type, which JSON can't write; compare it, as in type(input) == string")),
        }
    }
}

impl Map {
    pub(crate) fn get(&self, key: &Key) -> Option<&Value> {
        let index = self.entries.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
        self.entries.get(index).map(|(_, value)| value)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        let index = self.entries.binary_search_by(|(other, _)| other.cmp_name(name)).ok()?;
        self.entries.get(index).map(|(_, value)| value)
    }
}

impl Key {
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Uint(value) => Value::Uint(*value),
            Self::String(value) => Value::String(Rc::clone(value)),
        }
    }

    /// As an error names it.
    pub(crate) fn quoted(&self) -> String {
        match self {
            Self::String(text) => quoted(text),
            _ => self.text(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            _ => 0,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Uint(value) => value.to_string(),
            Self::String(value) => value.as_ref().to_owned(),
        }
    }

    /// Where it stands beside the key that is this string.
    fn cmp_name(&self, name: &str) -> Ordering {
        match self {
            Self::String(text) => text.as_ref().cmp(name),
            _ => Ordering::Less,
        }
    }

    fn number(&self) -> Option<i128> {
        match self {
            Self::Int(value) => Some((*value).into()),
            Self::Uint(value) => Some((*value).into()),
            _ => None,
        }
    }
}

impl Ord for Key {
    /// Bools before numbers before strings.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::String(one), Self::String(other)) => one.cmp(other),
            (Self::Bool(one), Self::Bool(other)) => one.cmp(other),
            (Self::String(_), _) | (_, Self::Bool(_)) => Ordering::Greater,
            (_, Self::String(_)) | (Self::Bool(_), _) => Ordering::Less,
            (one, other) => one.number().cmp(&other.number()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

/// The number that a double stands for, if it is whole and no larger than those of ints and uints.
pub(crate) fn whole(double: f64) -> Option<i128> {
    // Two to the power of 64, which a double holds exactly.
    const BOUND: f64 = 18_446_744_073_709_551_616.0;
    (double.fract() == 0.0 && double.abs() <= BOUND).then_some(double as i128)
}

/// Exactly, though a double doesn't hold every int.
fn order(integer: i128, double: f64) -> Option<Ordering> {
    match whole(double.floor()) {
        Some(floor) => Some(integer.cmp(&floor).then(if double.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })),
        None if double.is_nan() => None,
        None => Some(if double > 0.0 { Ordering::Less } else { Ordering::Greater }),
    }
}
