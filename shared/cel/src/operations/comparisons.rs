//! Equality, order, and finding values in lists and maps.

use std::cmp::Ordering;

use crate::{
    evaluation::{Evaluation, missing},
    functions::Function,
    limits::Fault,
    values::{Key, List, Map, Value, whole},
};

impl Evaluation {
    pub(super) fn equal(&mut self, one: &Value, other: &Value) -> Result<bool, Fault> {
        self.budget.spend(1)?;
        match (one, other) {
            (Value::Null, Value::Null) => Ok(true),
            (Value::Bool(one), Value::Bool(other)) => Ok(one == other),
            (Value::String(one), Value::String(other)) => {
                self.budget.read(one.len().min(other.len()))?;
                Ok(one == other)
            }
            (Value::Bytes(one), Value::Bytes(other)) => {
                self.budget.read(one.len().min(other.len()))?;
                Ok(one == other)
            }
            (Value::List(one), Value::List(other)) => self.lists_equal(one, other),
            (Value::Map(one), Value::Map(other)) => self.maps_equal(one, other),
            (Value::Timestamp(one), Value::Timestamp(other)) => Ok(one == other),
            (Value::Duration(one), Value::Duration(other)) => Ok(one == other),
            (Value::Type(one), Value::Type(other)) => Ok(one == other),
            _ => Ok(one.order(other) == Some(Ordering::Equal)),
        }
    }

    fn lists_equal(&mut self, one: &List, other: &List) -> Result<bool, Fault> {
        if one.items.len() != other.items.len() {
            return Ok(false);
        }
        for (one, other) in one.items.iter().zip(&other.items) {
            if !self.equal(one, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn maps_equal(&mut self, one: &Map, other: &Map) -> Result<bool, Fault> {
        if one.entries.len() != other.entries.len() {
            return Ok(false);
        }
        for ((key, value), (other_key, other_value)) in one.entries.iter().zip(&other.entries) {
            self.budget.read(key.len())?;
            if key != other_key || !self.equal(value, other_value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn compare(
        &mut self,
        function: Function,
        one: &Value,
        other: &Value,
        holds: fn(Ordering) -> bool,
    ) -> Result<Value, Fault> {
        let order = match (one, other) {
            (Value::String(one), Value::String(other)) => {
                self.budget.read(one.len().min(other.len()))?;
                Some(one.cmp(other))
            }
            (Value::Bytes(one), Value::Bytes(other)) => {
                self.budget.read(one.len().min(other.len()))?;
                Some(one.cmp(other))
            }
            (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
            (Value::Timestamp(one), Value::Timestamp(other)) => Some(one.cmp(other)),
            (Value::Duration(one), Value::Duration(other)) => Some(one.cmp(other)),
            (
                Value::Int(_) | Value::Uint(_) | Value::Double(_),
                Value::Int(_) | Value::Uint(_) | Value::Double(_),
            ) => one.order(other),
            _ => return self.unfit(function, &[one.clone(), other.clone()]),
        };
        Ok(Value::Bool(order.is_some_and(holds)))
    }

    pub(super) fn index(&mut self, of: &Value, index: &Value) -> Result<Value, Fault> {
        match (of, index) {
            (Value::List(list), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
                let position = match index {
                    Value::Int(index) => usize::try_from(*index).ok(),
                    Value::Uint(index) => usize::try_from(*index).ok(),
                    Value::Double(index) => {
                        whole(*index).and_then(|index| usize::try_from(index).ok())
                    }
                    _ => None,
                };
                match position.and_then(|position| list.items.get(position)) {
                    Some(item) => Ok(item.clone()),
                    None => self.budget.error(|| {
                        let count = list.items.len();
                        format!(
                            "the index is out of range: the list has {count} items, \
                             counted from 0"
                        )
                    }),
                }
            }
            (Value::Map(map), _) => {
                let Some(key) = index.key() else {
                    return self.unfit(Function::Index, &[of.clone(), index.clone()]);
                };
                self.search(map, key.len())?;
                match map.get(&key) {
                    Some(value) => Ok(value.clone()),
                    None => self.budget.error(|| missing(map, &key.quoted())),
                }
            }
            _ => self.unfit(Function::Index, &[of.clone(), index.clone()]),
        }
    }

    pub(super) fn is_in(&mut self, value: &Value, of: &Value) -> Result<Value, Fault> {
        match of {
            Value::List(list) => {
                for item in &list.items {
                    if self.equal(value, item)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            Value::Map(map) => {
                let key = value.key();
                if key.is_none() && !matches!(value, Value::Double(_)) {
                    return self.unfit(Function::In, &[value.clone(), of.clone()]);
                }
                self.search(map, key.as_ref().map_or(0, Key::len))?;
                Ok(Value::Bool(key.is_some_and(|key| map.get(&key).is_some())))
            }
            _ => self.unfit(Function::In, &[value.clone(), of.clone()]),
        }
    }
}
