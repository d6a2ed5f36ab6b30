//! Timestamps and durations.

use jiff::{SignedDuration, Timestamp, tz::Offset};

use super::{
    functions::Function,
    limits::{Fault, quoted},
    values::Value,
};

/// The first second of year 1, where CEL's timestamps start. They end where those of `jiff` end, a
/// day before the end of year 9999.
const FIRST_SECOND: i64 = -62_135_596_800;
/// The longest duration, in seconds.
const LONGEST_DURATION: i64 = 315_576_000_000;
/// The longest text of a time, in bytes.
const LONGEST_TEXT: usize = 64;

/// Parses a timestamp in RFC 3339.
pub(crate) fn timestamp(text: &str) -> Result<Value, Fault> {
    let time = (text.len() <= LONGEST_TEXT).then(|| text.parse().ok()).flatten();
    in_range(time).ok_or_else(|| {
        Fault::error(format!("{} is not a timestamp such as '2026-01-31T12:00:00Z'", quoted(text)))
    })
}

/// The timestamp of a number of seconds since 1970.
pub(crate) fn timestamp_of_seconds(seconds: i64) -> Result<Value, Fault> {
    in_range(Timestamp::from_second(seconds).ok()).ok_or_else(out_of_range)
}

/// Parses a duration such as `1h30m`.
pub(crate) fn duration(text: &str) -> Result<Value, Fault> {
    // Only zero needs no unit.
    let text_with_unit = if text == "0" { "0s" } else { text };
    let duration = (text.len() <= LONGEST_TEXT).then(|| text_with_unit.parse().ok()).flatten();
    bounded(duration).ok_or_else(|| {
        Fault::error(format!("{} is not a duration such as '90s' or '1h30m'", quoted(text)))
    })
}

/// A timestamp that is later by a duration.
pub(crate) fn later(time: Timestamp, by: SignedDuration) -> Result<Value, Fault> {
    in_range(time.checked_add(by).ok()).ok_or_else(out_of_range)
}

/// The time from one timestamp to another.
pub(crate) fn between(start: Timestamp, end: Timestamp) -> Value {
    Value::Duration(end.duration_since(start))
}

/// The sum of two durations.
pub(crate) fn sum(one: SignedDuration, other: SignedDuration) -> Result<Value, Fault> {
    bounded(one.checked_add(other)).ok_or_else(out_of_range)
}

/// A part of a timestamp, in UTC or with an offset. `None` if the function returns no part of it.
pub(crate) fn part(
    function: Function,
    time: Timestamp,
    zone: Option<&str>,
) -> Option<Result<i64, Fault>> {
    let offset = match zone.map_or(Ok(Offset::UTC), offset) {
        Ok(offset) => offset,
        Err(fault) => return Some(Err(fault)),
    };
    let time = offset.to_datetime(time);
    let part = match function {
        Function::GetFullYear => i64::from(time.year()),
        Function::GetMonth => i64::from(time.month()) - 1,
        Function::GetDate => time.day().into(),
        Function::GetDayOfMonth => i64::from(time.day()) - 1,
        Function::GetDayOfYear => i64::from(time.day_of_year()) - 1,
        Function::GetDayOfWeek => time.weekday().to_sunday_zero_offset().into(),
        Function::GetHours => time.hour().into(),
        Function::GetMinutes => time.minute().into(),
        Function::GetSeconds => time.second().into(),
        Function::GetMilliseconds => i64::from(time.subsec_nanosecond()) / 1_000_000,
        _ => return None,
    };
    Some(Ok(part))
}

/// The whole duration in a unit, except that `getMilliseconds` returns those of its last second.
/// `None` if the function does not take durations.
pub(crate) fn whole_part(function: Function, duration: SignedDuration) -> Option<i64> {
    match function {
        Function::GetHours => Some(duration.as_secs() / 3600),
        Function::GetMinutes => Some(duration.as_secs() / 60),
        Function::GetSeconds => Some(duration.as_secs()),
        Function::GetMilliseconds => Some(duration.subsec_millis().into()),
        _ => None,
    }
}

fn in_range(time: Option<Timestamp>) -> Option<Value> {
    // Rounded down, because a fraction of a second before year 1 is before year 1.
    time.filter(|time| time.as_nanosecond().div_euclid(1_000_000_000) >= FIRST_SECOND.into())
        .map(Value::Timestamp)
}

fn bounded(duration: Option<SignedDuration>) -> Option<Value> {
    duration
        .filter(|duration| duration.as_secs().unsigned_abs() <= LONGEST_DURATION.unsigned_abs())
        .map(Value::Duration)
}

fn out_of_range() -> Fault {
    Fault::error("a time is out of range; years go from 1 to 9999")
}

/// Parses an offset. Names of zones are refused: they would need a table, which differs between
/// machines.
fn offset(zone: &str) -> Result<Offset, Fault> {
    let read = || {
        let (sign, text) = match zone.split_at_checked(1) {
            Some(("-", text)) => (-1, text),
            Some(("+", text)) => (1, text),
            _ => (1, zone),
        };
        let (hours, minutes) = text.split_once(':')?;
        let digits = |text: &str| {
            (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| text.parse().ok())
                .flatten()
        };
        let hours: i32 = digits(hours)?;
        let minutes: i32 = digits(minutes)?;
        (hours < 24 && minutes < 60)
            .then(|| Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok())
            .flatten()
    };
    let offset = if zone == "UTC" { Some(Offset::UTC) } else { read() };
    offset.ok_or_else(|| {
        Fault::error(format!(
            "{} is not a supported time zone; use 'UTC' or an offset such as '+02:00'",
            quoted(zone)
        ))
    })
}
