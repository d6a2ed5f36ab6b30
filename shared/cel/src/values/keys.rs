//! The keys of maps.

use std::{cmp::Ordering, rc::Rc};

use crate::{limits::quoted, values::Value};

/// A key of a map. An int and a uint of the same number are the same key.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(Rc<str>),
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

    /// The key as an error names it.
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

    pub(super) fn text(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Uint(value) => value.to_string(),
            Self::String(value) => value.as_ref().to_owned(),
        }
    }

    /// Compares the key with a key that is a string.
    pub(super) fn cmp_name(&self, name: &str) -> Ordering {
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
    /// Bools come before numbers, and numbers before strings.
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
