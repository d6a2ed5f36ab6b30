//! What operators and functions make of their operands.

use std::{cmp::Ordering, rc::Rc};

use super::{
    evaluation::{Evaluation, HOLDER, ITEM, missing},
    functions::Function,
    limits::{Fault, quoted},
    times,
    values::{Key, List, Map, Value, whole},
};

impl Evaluation {
    /// Calls a function, with as many operands as it takes.
    pub(crate) fn call(&mut self, function: Function, operands: &[Value]) -> Result<Value, Fault> {
        match (function, operands) {
            (Function::Equal, [one, other]) => self.equal(one, other).map(Value::Bool),
            (Function::NotEqual, [one, other]) => self.equal(one, other).map(|equal| Value::Bool(!equal)),
            (Function::Less, [one, other]) => self.compare(function, one, other, Ordering::is_lt),
            (Function::LessOrEqual, [one, other]) => self.compare(function, one, other, Ordering::is_le),
            (Function::Greater, [one, other]) => self.compare(function, one, other, Ordering::is_gt),
            (Function::GreaterOrEqual, [one, other]) => self.compare(function, one, other, Ordering::is_ge),
            (Function::Index, [of, index]) => self.index(of, index),
            (Function::In, [value, of]) => self.is_in(value, of),
            (Function::Not, [Value::Bool(value)]) => Ok(Value::Bool(!value)),
            (Function::Negate, [Value::Int(value)]) => value.checked_neg().map(Value::Int).ok_or_else(overflow),
            (Function::Negate, [Value::Double(value)]) => Ok(Value::Double(-value)),
            (_, [Value::Int(one), Value::Int(other)]) => {
                let result = self.integer(function, operands, (*one).into(), (*other).into())?;
                i64::try_from(result).map(Value::Int).map_err(|_| overflow())
            }
            (_, [Value::Uint(one), Value::Uint(other)]) => {
                let result = self.integer(function, operands, (*one).into(), (*other).into())?;
                u64::try_from(result).map(Value::Uint).map_err(|_| overflow())
            }
            (Function::Add, [Value::Double(one), Value::Double(other)]) => Ok(Value::Double(one + other)),
            (Function::Subtract, [Value::Double(one), Value::Double(other)]) => Ok(Value::Double(one - other)),
            (Function::Multiply, [Value::Double(one), Value::Double(other)]) => Ok(Value::Double(one * other)),
            (Function::Divide, [Value::Double(one), Value::Double(other)]) => Ok(Value::Double(one / other)),
            (_, [Value::String(one), Value::String(other)]) => self.texts(function, operands, one, other),
            (Function::Add, [Value::Bytes(one), Value::Bytes(other)]) => {
                self.budget.allocate(HOLDER + one.len() + other.len())?;
                Ok(Value::Bytes([one.as_ref(), other.as_ref()].concat().into()))
            }
            (Function::Add, [Value::List(one), Value::List(other)]) => {
                self.budget.allocate(HOLDER + (one.items.len() + other.items.len()) * ITEM)?;
                Value::list([one.items.as_slice(), other.items.as_slice()].concat())
            }
            (Function::Size, [value]) => self.size(value),
            (Function::Type, [value]) => Ok(Value::Type(value.kind())),
            (Function::Dyn, [value]) => Ok(value.clone()),
            (Function::Int | Function::Uint | Function::Double | Function::String | Function::Bool | Function::Bytes, [value]) => {
                self.converted(function, value)
            }
            _ => self.times(function, operands),
        }
    }

    fn equal(&mut self, one: &Value, other: &Value) -> Result<bool, Fault> {
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

    fn compare(&mut self, function: Function, one: &Value, other: &Value, holds: fn(Ordering) -> bool) -> Result<Value, Fault> {
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
            (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => one.order(other),
            _ => return self.unfit(function, &[one.clone(), other.clone()]),
        };
        Ok(Value::Bool(order.is_some_and(holds)))
    }

    fn index(&mut self, of: &Value, index: &Value) -> Result<Value, Fault> {
        match (of, index) {
            (Value::List(list), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
                let position = match index {
                    Value::Int(index) => usize::try_from(*index).ok(),
                    Value::Uint(index) => usize::try_from(*index).ok(),
                    Value::Double(index) => whole(*index).and_then(|index| usize::try_from(index).ok()),
                    _ => None,
                };
                match position.and_then(|position| list.items.get(position)) {
                    Some(item) => Ok(item.clone()),
                    None => self
                        .budget
                        .error(|| format!("there is no such index in a list of {} items, which are counted from 0", list.items.len())),
                }
            }
            (Value::Map(map), _) => {
                let Some(key) = index.key() else { return self.unfit(Function::Index, &[of.clone(), index.clone()]) };
                self.search(map, key.len())?;
                match map.get(&key) {
                    Some(value) => Ok(value.clone()),
                    None => self.budget.error(|| missing(map, &key.quoted())),
                }
            }
            _ => self.unfit(Function::Index, &[of.clone(), index.clone()]),
        }
    }

    fn is_in(&mut self, value: &Value, of: &Value) -> Result<Value, Fault> {
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

    /// Two ints or two uints, in numbers so wide that no sum of them overflows.
    fn integer(&mut self, function: Function, operands: &[Value], one: i128, other: i128) -> Result<i128, Fault> {
        let result = match function {
            Function::Add => one.checked_add(other),
            Function::Subtract => one.checked_sub(other),
            Function::Multiply => one.checked_mul(other),
            Function::Divide | Function::Modulo if other == 0 => return self.budget.error(|| "division by zero".to_owned()),
            Function::Divide => one.checked_div(other),
            Function::Modulo => one.checked_rem(other),
            _ => return self.unfit(function, operands),
        };
        result.ok_or_else(overflow)
    }

    fn texts(&mut self, function: Function, operands: &[Value], one: &Rc<str>, other: &Rc<str>) -> Result<Value, Fault> {
        match function {
            Function::Add => {
                self.budget.allocate(HOLDER + one.len() + other.len())?;
                Ok(Value::String([one.as_ref(), other.as_ref()].concat().into()))
            }
            Function::Contains => {
                self.budget.spend((one.len() + other.len()) / 8)?;
                Ok(Value::Bool(one.contains(other.as_ref())))
            }
            Function::StartsWith => {
                self.budget.read(other.len())?;
                Ok(Value::Bool(one.starts_with(other.as_ref())))
            }
            Function::EndsWith => {
                self.budget.read(other.len())?;
                Ok(Value::Bool(one.ends_with(other.as_ref())))
            }
            Function::Matches => self.patterns.matches(&mut self.budget, one, other).map(Value::Bool),
            _ => self.unfit(function, operands),
        }
    }

    fn size(&mut self, value: &Value) -> Result<Value, Fault> {
        let size = match value {
            Value::String(text) => {
                self.budget.read(text.len())?;
                text.chars().count()
            }
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.items.len(),
            Value::Map(map) => map.entries.len(),
            _ => return self.unfit(Function::Size, std::slice::from_ref(value)),
        };
        Ok(Value::Int(size as i64))
    }

    fn converted(&mut self, function: Function, value: &Value) -> Result<Value, Fault> {
        let bytes = match value {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            // As many digits as the largest may have.
            Value::Double(_) => 330,
            _ => ITEM,
        };
        self.budget.allocate(HOLDER + bytes)?;
        let range = || Fault::error(format!("a number is out of the range of {}", function.description().0));
        let unread = |text: &str| Fault::error(format!("{} is no {}", quoted(text), function.description().0));
        match (function, value) {
            (Function::Int, Value::Int(_)) | (Function::Uint, Value::Uint(_)) | (Function::Double, Value::Double(_)) => Ok(value.clone()),
            (Function::String, Value::String(_)) | (Function::Bool, Value::Bool(_)) | (Function::Bytes, Value::Bytes(_)) => {
                Ok(value.clone())
            }
            (Function::Int, Value::Uint(number)) => i64::try_from(*number).map(Value::Int).map_err(|_| range()),
            (Function::Int, Value::Double(number)) => {
                whole(number.trunc()).and_then(|number| i64::try_from(number).ok()).map(Value::Int).ok_or_else(range)
            }
            (Function::Int, Value::String(text)) => text.parse().map(Value::Int).map_err(|_| unread(text)),
            (Function::Int, Value::Timestamp(time)) => Ok(Value::Int(time.as_second())),
            (Function::Uint, Value::Int(number)) => u64::try_from(*number).map(Value::Uint).map_err(|_| range()),
            (Function::Uint, Value::Double(number)) => {
                let number = (*number >= 0.0).then(|| whole(number.trunc())).flatten();
                number.and_then(|number| u64::try_from(number).ok()).map(Value::Uint).ok_or_else(range)
            }
            (Function::Uint, Value::String(text)) => text.parse().map(Value::Uint).map_err(|_| unread(text)),
            (Function::Double, Value::Int(number)) => Ok(Value::Double(*number as f64)),
            (Function::Double, Value::Uint(number)) => Ok(Value::Double(*number as f64)),
            (Function::Double, Value::String(text)) => {
                // Many digits are read slowly, beside the border between two doubles.
                self.budget.spend(if text.len() <= 20 { 40 } else { 400 + 4 * text.len() })?;
                text.parse().map(Value::Double).map_err(|_| unread(text))
            }
            (Function::Bool, Value::String(text)) => match text.as_ref() {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
                _ => Err(unread(text)),
            },
            (Function::Bytes, Value::String(text)) => Ok(Value::Bytes(text.as_bytes().into())),
            (Function::String, Value::Int(number)) => Ok(Value::string(&number.to_string())),
            (Function::String, Value::Uint(number)) => Ok(Value::string(&number.to_string())),
            (Function::String, Value::Double(number)) => Ok(Value::string(&number.to_string())),
            (Function::String, Value::Bool(value)) => Ok(Value::string(if *value { "true" } else { "false" })),
            (Function::String, Value::Timestamp(time)) => Ok(Value::string(&time.to_string())),
            (Function::String, Value::Duration(duration)) => Ok(Value::string(&times::duration_text(*duration))),
            (Function::String, Value::Bytes(bytes)) => {
                std::str::from_utf8(bytes).map(Value::string).map_err(|_| Fault::error("the bytes are no text in UTF-8"))
            }
            _ => self.unfit(function, std::slice::from_ref(value)),
        }
    }

    /// What timestamps and durations have of their own.
    fn times(&mut self, function: Function, operands: &[Value]) -> Result<Value, Fault> {
        // Reading and writing a time takes about as long as this.
        self.budget.spend(20)?;
        let part = match (function, operands) {
            (Function::Timestamp, [Value::String(text)]) => return times::timestamp(text),
            (Function::Timestamp, [Value::Int(seconds)]) => return times::timestamp_of_seconds(*seconds),
            (Function::Duration, [Value::String(text)]) => return times::duration(text),
            (Function::Timestamp, [time @ Value::Timestamp(_)]) | (Function::Duration, [time @ Value::Duration(_)]) => {
                return Ok(time.clone());
            }
            (Function::Add, [Value::Timestamp(time), Value::Duration(by)] | [Value::Duration(by), Value::Timestamp(time)]) => {
                return times::later(*time, *by);
            }
            (Function::Add, [Value::Duration(one), Value::Duration(other)]) => return times::sum(*one, *other),
            (Function::Subtract, [Value::Timestamp(time), Value::Duration(by)]) => return times::later(*time, -*by),
            (Function::Subtract, [Value::Duration(one), Value::Duration(other)]) => return times::sum(*one, -*other),
            (Function::Subtract, [Value::Timestamp(end), Value::Timestamp(start)]) => return Ok(times::between(*start, *end)),
            (_, [Value::Timestamp(time)]) => times::part(function, *time, None),
            (_, [Value::Timestamp(time), Value::String(zone)]) => times::part(function, *time, Some(zone)),
            (_, [Value::Duration(duration)]) => times::whole_part(function, *duration).map(Ok),
            _ => None,
        };
        part.map_or_else(|| self.unfit(function, operands), |part| part.map(Value::Int))
    }

    /// An error about operands of the wrong types.
    fn unfit<T>(&mut self, function: Function, operands: &[Value]) -> Result<T, Fault> {
        self.budget.error(|| {
            let (name, takes) = function.description();
            let kinds: Vec<&str> = operands.iter().map(Value::kind).collect();
            let numbers = kinds.len() == 2 && kinds.iter().all(|kind| matches!(*kind, "int" | "uint" | "double"));
            let hint = if numbers { "; convert one with int(…), uint(…) or double(…)" } else { "" };
            format!("'{name}' takes {takes}, not {}{hint}", kinds.join(" and "))
        })
    }
}

fn overflow() -> Fault {
    Fault::error("a whole number overflows its type")
}
