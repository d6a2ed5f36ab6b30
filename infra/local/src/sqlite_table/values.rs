//! How DynamoDB compares, adds and measures values.

use std::{cmp::Ordering, collections::BTreeSet, str::FromStr};

use bigdecimal::BigDecimal;
use serde_dynamo::AttributeValue;
use smartspace_store::table::write::Item;

/// Whether a comparison of two values holds. A value that is missing, or of another type, is only
/// unequal.
pub(super) fn compare(
    left: Option<&AttributeValue>,
    comparison: &str,
    right: Option<&AttributeValue>,
) -> Result<bool, String> {
    let order = match (left, right) {
        (Some(left), Some(right)) => order(left, right)?,
        _ => None,
    };
    let is_equal = match (left, right, order) {
        (_, _, Some(order)) => order.is_eq(),
        (Some(left), Some(right), None) => is_same(left, right),
        _ => false,
    };
    Ok(match comparison {
        "=" => is_equal,
        "<>" => !is_equal,
        "<" => order.is_some_and(Ordering::is_lt),
        "<=" => order.is_some_and(Ordering::is_le),
        ">" => order.is_some_and(Ordering::is_gt),
        ">=" => order.is_some_and(Ordering::is_ge),
        _ => return Err(format!("expected a comparison in place of {comparison:?}")),
    })
}

/// The order of two texts, two numbers or two strings of bytes.
fn order(left: &AttributeValue, right: &AttributeValue) -> Result<Option<Ordering>, String> {
    use AttributeValue::{B, N, S};
    Ok(match (left, right) {
        (S(left), S(right)) => Some(left.cmp(right)),
        (B(left), B(right)) => Some(left.cmp(right)),
        (N(left), N(right)) => Some(match (left.parse::<i64>(), right.parse::<i64>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            _ => decimal(left)?.cmp(&decimal(right)?),
        }),
        _ => None,
    })
}

/// Whether two values without an order are equal. Sets have no order either.
fn is_same(left: &AttributeValue, right: &AttributeValue) -> bool {
    match (left, right) {
        (AttributeValue::Ss(left), AttributeValue::Ss(right)) => {
            left.iter().collect::<BTreeSet<_>>() == right.iter().collect::<BTreeSet<_>>()
        }
        _ => left == right,
    }
}

pub(super) fn sum(left: &AttributeValue, right: &AttributeValue) -> Result<AttributeValue, String> {
    calculate(left, right, i64::checked_add, |left, right| left + right)
}

pub(super) fn difference(
    left: &AttributeValue,
    right: &AttributeValue,
) -> Result<AttributeValue, String> {
    calculate(left, right, i64::checked_sub, |left, right| left - right)
}

fn calculate(
    left: &AttributeValue,
    right: &AttributeValue,
    whole: impl Fn(i64, i64) -> Option<i64>,
    exact: impl Fn(BigDecimal, BigDecimal) -> BigDecimal,
) -> Result<AttributeValue, String> {
    let (AttributeValue::N(left), AttributeValue::N(right)) = (left, right) else {
        return Err("an update calculates with something that is not a number".into());
    };
    let result = match (left.parse(), right.parse()) {
        (Ok(left), Ok(right)) => whole(left, right),
        _ => None,
    };
    Ok(AttributeValue::N(match result {
        Some(result) => result.to_string(),
        None => exact(decimal(left)?, decimal(right)?).normalized().to_plain_string(),
    }))
}

fn decimal(number: &str) -> Result<BigDecimal, String> {
    BigDecimal::from_str(number).map_err(|error| format!("{number:?} is not a number: {error}"))
}

/// What `ADD` makes of a number or of a set of texts.
pub(super) fn plus(
    before: Option<&AttributeValue>,
    more: &AttributeValue,
) -> Result<AttributeValue, String> {
    match (before, more) {
        (None, AttributeValue::N(_) | AttributeValue::Ss(_)) => Ok(more.clone()),
        (Some(AttributeValue::Ss(before)), AttributeValue::Ss(more)) => {
            let added = more.iter().filter(|text| !before.contains(text));
            Ok(AttributeValue::Ss(before.iter().chain(added).cloned().collect()))
        }
        (Some(before), more) => sum(before, more),
        (None, _) => Err("an update adds something that is neither a number nor a set".into()),
    }
}

/// What `DELETE` leaves of a set of texts; nothing if no text is left.
pub(super) fn without(
    before: Option<&AttributeValue>,
    less: &AttributeValue,
) -> Result<Option<AttributeValue>, String> {
    match (before, less) {
        (None, AttributeValue::Ss(_)) => Ok(None),
        (Some(AttributeValue::Ss(before)), AttributeValue::Ss(less)) => {
            let left: Vec<_> = before.iter().filter(|text| !less.contains(text)).cloned().collect();
            Ok((!left.is_empty()).then_some(AttributeValue::Ss(left)))
        }
        _ => Err("an update deletes from something that is not a set of texts".into()),
    }
}

/// Implements `list_append`.
pub(super) fn joined(
    first: AttributeValue,
    last: AttributeValue,
) -> Result<AttributeValue, String> {
    match (first, last) {
        (AttributeValue::L(mut first), AttributeValue::L(last)) => {
            first.extend(last);
            Ok(AttributeValue::L(first))
        }
        _ => Err("an update joins something that is not a list".into()),
    }
}

/// Implements `size`.
pub(super) fn size(value: &AttributeValue) -> Result<usize, String> {
    match value {
        AttributeValue::S(text) => Ok(text.len()),
        AttributeValue::B(bytes) => Ok(bytes.len()),
        AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => Ok(texts.len()),
        AttributeValue::Bs(values) => Ok(values.len()),
        AttributeValue::L(values) => Ok(values.len()),
        AttributeValue::M(values) => Ok(values.len()),
        AttributeValue::N(_) | AttributeValue::Bool(_) | AttributeValue::Null(_) => {
            Err("a condition measures a number, a boolean or null".into())
        }
    }
}

/// How many bytes an item counts, for the limits of items and pages.
pub(super) fn bytes_of(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + bytes_of_value(value)).sum()
}

fn bytes_of_value(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => bytes_of_number(number),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::Bool(_) | AttributeValue::Null(_) => 1,
        AttributeValue::Ss(texts) => texts.iter().map(String::len).sum(),
        AttributeValue::Ns(numbers) => numbers.iter().map(|it| bytes_of_number(it)).sum(),
        AttributeValue::Bs(values) => values.iter().map(Vec::len).sum(),
        AttributeValue::L(values) => {
            3 + values.iter().map(|it| 1 + bytes_of_value(it)).sum::<usize>()
        }
        AttributeValue::M(map) => 3 + map.len() + bytes_of(map),
    }
}

/// Two significant digits take a byte, on each side of the point; one byte more is for the exponent
/// and one for a minus.
fn bytes_of_number(number: &str) -> usize {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let (whole, fraction) = match (whole, fraction) {
        (whole, "") => (whole.trim_end_matches('0'), ""),
        ("", fraction) => ("", fraction.trim_start_matches('0')),
        both => both,
    };
    if whole.is_empty() && fraction.is_empty() {
        return 1;
    }
    whole.len().div_ceil(2)
        + fraction.len().div_ceil(2)
        + 1
        + usize::from(number.len() > digits.len())
}
