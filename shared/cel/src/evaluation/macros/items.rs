//! Goes over the items of a value.

use std::rc::Rc;

use crate::values::{List, Map, Value};

/// The items that a macro goes over: those of a list, or the keys of a map.
pub(super) struct Items {
    of: Source,
    next: usize,
}

enum Source {
    List(Rc<List>),
    Map(Rc<Map>),
}

impl Items {
    pub(super) fn of(value: &Value) -> Option<Self> {
        let of = match value {
            Value::List(list) => Source::List(Rc::clone(list)),
            Value::Map(map) => Source::Map(Rc::clone(map)),
            _ => return None,
        };
        Some(Self { of, next: 0 })
    }
}

impl Iterator for Items {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let item = match &self.of {
            Source::List(list) => list.items.get(self.next).cloned(),
            Source::Map(map) => map.entries.get(self.next).map(|(key, _)| key.value()),
        };
        self.next += 1;
        item
    }
}
