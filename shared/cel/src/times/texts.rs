//! Reads timestamps in RFC 3339, and durations as Go's `ParseDuration` does: the forms of the
//! standard, and no others that a library would take.

use jiff::{SignedDuration, civil::DateTime};

use crate::values::Time;

/// The longest text of a time, in bytes.
const LONGEST_TEXT: usize = 64;
/// The digits and signs of a timestamp before its fraction.
const SHAPE: &str = "0000-00-00T00:00:00";
/// How many digits of a fraction count. Further ones are less than a nanosecond.
const FRACTION_DIGITS: usize = 15;

/// The time since 1970 of a timestamp such as `2026-01-31T12:00:00Z`.
pub(super) fn timestamp(text: &str) -> Option<SignedDuration> {
    if text.len() > LONGEST_TEXT {
        return None;
    }
    let (seconds, rest) = text.split_at_checked(SHAPE.len())?;
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    };
    if !seconds.bytes().zip(SHAPE.bytes()).all(fits) {
        return None;
    }
    let (fraction, zone) = rest.split_at(rest.find(['Z', '+', '-'])?);
    let is_fraction = fraction.is_empty() || fraction.strip_prefix('.').is_some_and(are_digits);
    let offset = if zone == "Z" { 0 } else { offset(zone)? };
    let local: DateTime = is_fraction.then(|| format!("{seconds}{fraction}").parse().ok())??;
    Time::since_1970_of(local).checked_sub(SignedDuration::from_secs(offset.into()))
}

/// The seconds of an offset such as `+02:00`.
pub(super) fn offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (hours, minutes) = unsigned.split_once(':')?;
    let number = |digits: &str| -> Option<i32> {
        (digits.len() == 2 && are_digits(digits)).then(|| digits.parse().ok()).flatten()
    };
    let hours = number(hours)?;
    let minutes = number(minutes)?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// A duration such as `1h30m`.
pub(super) fn duration(text: &str) -> Option<SignedDuration> {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if text.len() > LONGEST_TEXT || rest.is_empty() {
        return None;
    }
    // Only zero needs no unit.
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    let is_of_number = |char: char| char.is_ascii_digit() || char == '.';
    let mut nanos: i128 = 0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|char: char| !is_of_number(char))?);
        let (unit, after) = after.split_at(after.find(is_of_number).unwrap_or(after.len()));
        nanos = nanos.checked_add(nanoseconds(number, unit)?)?;
        rest = after;
    }
    SignedDuration::try_from_nanos_i128(if text.starts_with('-') { -nanos } else { nanos })
}

fn nanoseconds(number: &str, unit: &str) -> Option<i128> {
    let unit: i128 = match unit {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let value = |digits: &str| -> Option<i128> {
        if digits.is_empty() { Some(0) } else { digits.parse().ok() }
    };
    if (whole.is_empty() && fraction.is_empty()) || !(fraction.is_empty() || are_digits(fraction)) {
        return None;
    }
    let counted = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    let scale = 10_i128.pow(u32::try_from(counted.len()).ok()?);
    value(whole)?.checked_mul(unit)?.checked_add(value(counted)? * unit / scale)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
