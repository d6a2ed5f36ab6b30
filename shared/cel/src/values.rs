//! The values of expressions.

mod json;
mod keys;
mod time;

use std::{cmp::Ordering, rc::Rc};

use jiff::SignedDuration;

pub(crate) use self::{json::duration_text, keys::Key, time::Time};
use super::limits::{DEEPEST_VALUE, Fault, LARGEST_VALUE};

/// The bytes of a JSON value.
const JSON_VALUE: usize = 32;
/// The bytes that a JSON map allocates besides its entries.
const JSON_MAP: usize = 600;

/// A value. Copies are cheap, because they share their contents.
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
    Timestamp(Time),
    Duration(SignedDuration),
    /// A type, by its name.
    Type(&'static str),
}

/// A list and its extent.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: Vec<Value>,
    extent: Extent,
}

/// A map and its extent.
#[derive(Debug)]
pub(crate) struct Map {
    /// Sorted by key, each key once.
    pub(crate) entries: Vec<(Key, Value)>,
    extent: Extent,
}

/// The size and the depth of a value as JSON. Values share parts, so the size may be much larger
/// than in memory.
#[derive(Clone, Copy, Debug)]
struct Extent {
    bytes: usize,
    depth: usize,
}

impl Extent {
    /// The extent of a value that contains others. It is limited, because converting, comparing and
    /// dropping a value recurse over its depth.
    fn around(bytes: usize, parts: impl Iterator<Item = Self>) -> Result<Self, Fault> {
        let sum = |sum: Self, part: Self| Self {
            bytes: sum.bytes.saturating_add(part.bytes),
            depth: sum.depth.max(part.depth),
        };
        let inner = parts.fold(Self { bytes, depth: 0 }, sum);
        if inner.bytes > LARGEST_VALUE {
            return Err(Fault::Limit("a value is too large"));
        }
        if inner.depth >= DEEPEST_VALUE {
            return Err(Fault::Limit(
                "lists and maps are nested too deeply; they may have at most 127 levels",
            ));
        }
        Ok(Self { depth: inner.depth + 1, ..inner })
    }
}

impl Value {
    /// A list, unless it is too large or nested too deeply.
    pub(crate) fn list(items: Vec<Self>) -> Result<Self, Fault> {
        let extent = Extent::around(JSON_VALUE, items.iter().map(Self::extent))?;
        Ok(Self::List(Rc::new(List { items, extent })))
    }

    /// A map, unless it is too large or nested too deeply, or has a key twice.
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

    /// The name of the value's type.
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

    /// The value as a key of a map. A double is a key if it is a whole number.
    pub(crate) fn key(&self) -> Option<Key> {
        match self {
            Self::Bool(value) => Some(Key::Bool(*value)),
            Self::Int(value) => Some(Key::Int(*value)),
            Self::Uint(value) => Some(Key::Uint(*value)),
            Self::Double(value) => {
                whole(*value).and_then(|number| i64::try_from(number).ok()).map(Key::Int)
            }
            Self::String(value) => Some(Key::String(Rc::clone(value))),
            _ => None,
        }
    }

    /// The order of two numbers of any types. `None` for `NaN`, and for values that are not
    /// numbers.
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

/// The number of a double, if it is whole and not larger than an int or a uint can be.
pub(crate) fn whole(double: f64) -> Option<i128> {
    // 2 to the power of 64. A double holds it exactly.
    const BOUND: f64 = 18_446_744_073_709_551_616.0;
    (double.fract() == 0.0 && double.abs() <= BOUND).then_some(double as i128)
}

/// The exact order of an integer and a double, although a double cannot hold every integer.
fn order(integer: i128, double: f64) -> Option<Ordering> {
    match whole(double.floor()) {
        Some(floor) => Some(integer.cmp(&floor).then(if double.fract() == 0.0 {
            Ordering::Equal
        } else {
            Ordering::Less
        })),
        None if double.is_nan() => None,
        None => Some(if double > 0.0 { Ordering::Less } else { Ordering::Greater }),
    }
}
