//! The results of operators and functions.

mod comparisons;
mod conversions;

use std::{cmp::Ordering, rc::Rc};

use super::{
    evaluation::{Evaluation, HOLDER, ITEM},
    functions::Function,
    limits::Fault,
    times,
    values::Value,
};

/// The steps of finding a time zone by its name.
const ZONE: usize = 100;

impl Evaluation {
    /// Calls a function. The number of operands is one that the function takes.
    pub(crate) fn call(&mut self, function: Function, operands: &[Value]) -> Result<Value, Fault> {
        match (function, operands) {
            (Function::Equal, [one, other]) => self.equal(one, other).map(Value::Bool),
            (Function::NotEqual, [one, other]) => {
                self.equal(one, other).map(|equal| Value::Bool(!equal))
            }
            (Function::Less, [one, other]) => self.compare(function, one, other, Ordering::is_lt),
            (Function::LessOrEqual, [one, other]) => {
                self.compare(function, one, other, Ordering::is_le)
            }
            (Function::Greater, [one, other]) => {
                self.compare(function, one, other, Ordering::is_gt)
            }
            (Function::GreaterOrEqual, [one, other]) => {
                self.compare(function, one, other, Ordering::is_ge)
            }
            (Function::Index, [of, index]) => self.index(of, index),
            (Function::In, [value, of]) => self.is_in(value, of),
            (Function::Not, [Value::Bool(value)]) => Ok(Value::Bool(!value)),
            (Function::Size, [value]) => self.size(value),
            (Function::Type, [value]) => Ok(Value::Type(value.kind())),
            (Function::Dyn, [value]) => Ok(value.clone()),
            (
                Function::Int
                | Function::Uint
                | Function::Double
                | Function::String
                | Function::Bool
                | Function::Bytes,
                [value],
            ) => self.converted(function, value),
            _ => self.calculated(function, operands),
        }
    }

    /// Operators and functions whose meaning depends on the types of their operands.
    fn calculated(&mut self, function: Function, operands: &[Value]) -> Result<Value, Fault> {
        match (function, operands) {
            (Function::Negate, [Value::Int(value)]) => {
                value.checked_neg().map(Value::Int).ok_or_else(overflow)
            }
            (Function::Negate, [Value::Double(value)]) => Ok(Value::Double(-value)),
            (_, [Value::Int(one), Value::Int(other)]) => {
                let result = self.integer(function, operands, (*one).into(), (*other).into())?;
                i64::try_from(result).map(Value::Int).map_err(|_| overflow())
            }
            (_, [Value::Uint(one), Value::Uint(other)]) => {
                let result = self.integer(function, operands, (*one).into(), (*other).into())?;
                u64::try_from(result).map(Value::Uint).map_err(|_| overflow())
            }
            (Function::Add, [Value::Double(one), Value::Double(other)]) => {
                Ok(Value::Double(one + other))
            }
            (Function::Subtract, [Value::Double(one), Value::Double(other)]) => {
                Ok(Value::Double(one - other))
            }
            (Function::Multiply, [Value::Double(one), Value::Double(other)]) => {
                Ok(Value::Double(one * other))
            }
            (Function::Divide, [Value::Double(one), Value::Double(other)]) => {
                Ok(Value::Double(one / other))
            }
            (_, [Value::String(one), Value::String(other)]) => {
                self.texts(function, operands, one, other)
            }
            (Function::Add, [Value::Bytes(one), Value::Bytes(other)]) => {
                self.budget.allocate(HOLDER + one.len() + other.len())?;
                Ok(Value::Bytes([one.as_ref(), other.as_ref()].concat().into()))
            }
            (Function::Add, [Value::List(one), Value::List(other)]) => {
                self.budget.allocate(HOLDER + (one.items.len() + other.items.len()) * ITEM)?;
                Value::list([one.items.as_slice(), other.items.as_slice()].concat())
            }
            _ => self.times(function, operands),
        }
    }

    /// Calculates with two ints or two uints, as numbers that hold every result of 64-bit operands.
    fn integer(
        &mut self,
        function: Function,
        operands: &[Value],
        one: i128,
        other: i128,
    ) -> Result<i128, Fault> {
        let result = match function {
            Function::Add => one.checked_add(other),
            Function::Subtract => one.checked_sub(other),
            Function::Multiply => one.checked_mul(other),
            Function::Divide | Function::Modulo if other == 0 => {
                return self.budget.error(|| "division by zero".to_owned());
            }
            Function::Divide => one.checked_div(other),
            Function::Modulo => one.checked_rem(other),
            _ => return self.unfit(function, operands),
        };
        result.ok_or_else(overflow)
    }

    fn texts(
        &mut self,
        function: Function,
        operands: &[Value],
        one: &Rc<str>,
        other: &Rc<str>,
    ) -> Result<Value, Fault> {
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
            Function::Matches => {
                self.patterns.matches(&mut self.budget, one, other).map(Value::Bool)
            }
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

    /// Operators and functions of timestamps and durations.
    fn times(&mut self, function: Function, operands: &[Value]) -> Result<Value, Fault> {
        // Parsing and formatting a time takes about as long as these steps.
        self.budget.spend(20)?;
        let part = match (function, operands) {
            (Function::Timestamp, [Value::String(text)]) => return times::timestamp(text),
            (Function::Timestamp, [Value::Int(seconds)]) => {
                return times::timestamp_of_seconds(*seconds);
            }
            (Function::Duration, [Value::String(text)]) => return times::duration(text),
            (Function::Timestamp, [time @ Value::Timestamp(_)])
            | (Function::Duration, [time @ Value::Duration(_)]) => {
                return Ok(time.clone());
            }
            (
                Function::Add,
                [Value::Timestamp(time), Value::Duration(by)]
                | [Value::Duration(by), Value::Timestamp(time)],
            ) => {
                return times::later(*time, *by);
            }
            (Function::Add, [Value::Duration(one), Value::Duration(other)]) => {
                return times::sum(*one, *other);
            }
            (Function::Subtract, [Value::Timestamp(time), Value::Duration(by)]) => {
                return times::later(*time, -*by);
            }
            (Function::Subtract, [Value::Duration(one), Value::Duration(other)]) => {
                return times::sum(*one, -*other);
            }
            (Function::Subtract, [Value::Timestamp(end), Value::Timestamp(start)]) => {
                return Ok(times::between(*start, *end));
            }
            (_, [Value::Timestamp(time)]) => times::part(function, *time, None),
            (_, [Value::Timestamp(time), Value::String(zone)]) => {
                self.budget.spend(ZONE)?;
                times::part(function, *time, Some(zone))
            }
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
            let numbers = kinds.len() == 2
                && kinds.iter().all(|kind| matches!(*kind, "int" | "uint" | "double"));
            let hint =
                if numbers { "; convert one with int(…), uint(…) or double(…)" } else { "" };
            format!("'{name}' takes {takes}, not {}{hint}", kinds.join(" and "))
        })
    }
}

fn overflow() -> Fault {
    Fault::error("integer overflow")
}
