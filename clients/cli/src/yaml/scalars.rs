//! Plain scalars of YAML 1.2's core schema.

use serde_json::{Number, Value};
use smartspace_domain::json;

use super::NodeKind;

/// What a scalar without quotes means.
pub(super) fn plain(text: &str) -> Result<NodeKind, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeKind::Null,
        "true" => NodeKind::Bool(true),
        "false" => NodeKind::Bool(false),
        _ => match number(text)? {
            Some(number) => NodeKind::Number(number),
            None => NodeKind::Text(text.to_owned()),
        },
    })
}

fn number(text: &str) -> Result<Option<Number>, String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if [".inf", ".Inf", ".INF"].contains(&unsigned) || [".nan", ".NaN", ".NAN"].contains(&text) {
        return Err(format!("expected a finite number, got {text}; quote it if it is a text"));
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        let is_digit = |char: char| char.is_digit(radix);
        let Some(digits) = text.strip_prefix(prefix) else { continue };
        if digits.is_empty() || !digits.chars().all(is_digit) {
            return Ok(None);
        }
        let number = u64::from_str_radix(digits, radix).map_err(|_| out_of_range())?;
        return Ok(Some(number.into()));
    }
    let Some(json) = as_json(text, unsigned) else { return Ok(None) };
    let is_whole = unsigned.bytes().all(|byte| byte.is_ascii_digit());
    match json::parse(&json) {
        // A whole number that fits no integer would lose digits silently. Minus zero fits none.
        Ok(Value::Number(number))
            if !is_whole || !number.is_f64() || number.as_f64() == Some(0.0) =>
        {
            Ok(Some(number))
        }
        _ => Err(out_of_range()),
    }
}

fn out_of_range() -> String {
    "expected a number within the range of JSON; quote it if it is a text".to_owned()
}

/// A decimal number, as JSON writes it.
fn as_json(text: &str, unsigned: &str) -> Option<String> {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let mut json = if text.starts_with('-') { "-".to_owned() } else { String::new() };
    json.push_str(if whole.is_empty() { "0" } else { whole });
    if mantissa.contains('.') {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if digits.is_empty() || !are_digits(digits) {
            return None;
        }
        json.push('e');
        json.push_str(exponent);
    }
    Some(json)
}
