//! Conversions from one type to another.

use crate::{
    evaluation::{Evaluation, HOLDER, ITEM},
    functions::Function,
    limits::{Fault, quoted},
    values::{Value, duration_text, whole},
};

/// A converted value, or an error. `None` if the value's type cannot be converted.
type Converted = Option<Result<Value, Fault>>;

impl Evaluation {
    pub(super) fn converted(&mut self, function: Function, value: &Value) -> Result<Value, Fault> {
        let bytes = match value {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            // The largest double has about this many digits.
            Value::Double(_) => 330,
            _ => ITEM,
        };
        self.budget.allocate(HOLDER + bytes)?;
        let converted = match function {
            Function::Int => to_int(value),
            Function::Uint => to_uint(value),
            Function::Double => self.double(value),
            Function::String => to_string(value),
            Function::Bool => to_bool(value),
            Function::Bytes => to_bytes(value),
            _ => None,
        };
        converted.unwrap_or_else(|| self.unfit(function, std::slice::from_ref(value)))
    }

    fn double(&mut self, value: &Value) -> Converted {
        match value {
            Value::Double(_) => Some(Ok(value.clone())),
            Value::Int(number) => Some(Ok(Value::Double(*number as f64))),
            Value::Uint(number) => Some(Ok(Value::Double(*number as f64))),
            Value::String(text) => Some(self.parsed_double(text)),
            _ => None,
        }
    }

    fn parsed_double(&mut self, text: &str) -> Result<Value, Fault> {
        // Many digits are slow to parse if the number lies between two doubles.
        self.budget.spend(if text.len() <= 20 { 40 } else { 400 + 4 * text.len() })?;
        text.parse().map(Value::Double).map_err(|_| invalid("double", text))
    }
}

fn to_int(value: &Value) -> Converted {
    let int = match value {
        Value::Int(number) => Some(*number),
        Value::Uint(number) => i64::try_from(*number).ok(),
        Value::Double(number) => {
            whole(number.trunc()).and_then(|number| i64::try_from(number).ok())
        }
        Value::Timestamp(time) => Some(time.seconds()),
        Value::String(text) => {
            return Some(text.parse().map(Value::Int).map_err(|_| invalid("int", text)));
        }
        _ => return None,
    };
    Some(int.map(Value::Int).ok_or_else(|| out_of_range("int")))
}

fn to_uint(value: &Value) -> Converted {
    let uint = match value {
        Value::Uint(number) => Some(*number),
        Value::Int(number) => u64::try_from(*number).ok(),
        // -0.5 is out of range, although it would be truncated to 0.
        Value::Double(number) if *number < 0.0 => None,
        Value::Double(number) => {
            whole(number.trunc()).and_then(|number| u64::try_from(number).ok())
        }
        Value::String(text) => {
            return Some(text.parse().map(Value::Uint).map_err(|_| invalid("uint", text)));
        }
        _ => return None,
    };
    Some(uint.map(Value::Uint).ok_or_else(|| out_of_range("uint")))
}

fn to_string(value: &Value) -> Converted {
    let text = match value {
        Value::String(_) => return Some(Ok(value.clone())),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Timestamp(time) => time.text(),
        Value::Duration(duration) => duration_text(*duration),
        Value::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes).map(Value::string);
            return Some(text.map_err(|_| Fault::error("the bytes are not UTF-8 text")));
        }
        _ => return None,
    };
    Some(Ok(Value::string(&text)))
}

fn to_bool(value: &Value) -> Converted {
    match value {
        Value::Bool(_) => Some(Ok(value.clone())),
        Value::String(text) => Some(match text.as_ref() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(invalid("bool", text)),
        }),
        _ => None,
    }
}

fn to_bytes(value: &Value) -> Converted {
    match value {
        Value::Bytes(_) => Some(Ok(value.clone())),
        Value::String(text) => Some(Ok(Value::Bytes(text.as_bytes().into()))),
        _ => None,
    }
}

fn out_of_range(kind: &str) -> Fault {
    Fault::error(format!("the number is out of range for {kind}"))
}

fn invalid(kind: &str, text: &str) -> Fault {
    Fault::error(format!("{} is not a valid {kind}", quoted(text)))
}
