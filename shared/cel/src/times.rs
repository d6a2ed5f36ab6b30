//! Timestamps and durations.

mod texts;

use jiff::{SignedDuration, Timestamp, tz::TimeZoneDatabase};

use super::{
    functions::Function,
    limits::{Fault, quoted},
    values::{Time, Value},
};

/// The longest duration, in seconds.
const LONGEST_DURATION: i64 = 315_576_000_000;

/// Parses a timestamp in RFC 3339.
pub(crate) fn timestamp(text: &str) -> Result<Value, Fault> {
    let since = texts::timestamp(text).ok_or_else(|| {
        Fault::error(format!("{} is not a timestamp such as '2026-01-31T12:00:00Z'", quoted(text)))
    })?;
    in_range(Some(since))
}

/// The timestamp of a number of seconds since 1970.
pub(crate) fn timestamp_of_seconds(seconds: i64) -> Result<Value, Fault> {
    in_range(Some(SignedDuration::from_secs(seconds)))
}

/// Parses a duration such as `1h30m`.
pub(crate) fn duration(text: &str) -> Result<Value, Fault> {
    bounded(texts::duration(text)).ok_or_else(|| {
        Fault::error(format!("{} is not a duration such as '90s' or '1h30m'", quoted(text)))
    })
}

/// A timestamp that is later by a duration.
pub(crate) fn later(time: Time, by: SignedDuration) -> Result<Value, Fault> {
    in_range(time.since_1970().checked_add(by))
}

/// The time from one timestamp to another.
pub(crate) fn between(start: Time, end: Time) -> Value {
    Value::Duration(end.since_1970() - start.since_1970())
}

/// The sum of two durations.
pub(crate) fn sum(one: SignedDuration, other: SignedDuration) -> Result<Value, Fault> {
    bounded(one.checked_add(other)).ok_or_else(out_of_range)
}

/// A part of a timestamp, in UTC or in a time zone. `None` if the function returns no part of it.
pub(crate) fn part(
    function: Function,
    time: Time,
    zone: Option<&str>,
) -> Option<Result<i64, Fault>> {
    let offset = match zone.map_or(Ok(0), |zone| offset(zone, time)) {
        Ok(offset) => offset,
        Err(fault) => return Some(Err(fault)),
    };
    let Some(time) = time.at(offset) else { return Some(Err(out_of_range())) };
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

fn in_range(since_1970: Option<SignedDuration>) -> Result<Value, Fault> {
    since_1970.and_then(Time::new).map(Value::Timestamp).ok_or_else(out_of_range)
}

fn bounded(duration: Option<SignedDuration>) -> Option<Value> {
    duration
        .filter(|duration| duration.as_secs().unsigned_abs() <= LONGEST_DURATION.unsigned_abs())
        .map(Value::Duration)
}

fn out_of_range() -> Fault {
    Fault::error("a time is out of range; years go from 1 to 9999")
}

/// By how many seconds the clocks of a time zone are ahead of UTC at a time.
fn offset(zone: &str, time: Time) -> Result<i32, Fault> {
    texts::offset(zone).or_else(|| offset_of_name(zone, time)).ok_or_else(|| {
        Fault::error(format!(
            "{} is not a time zone such as 'Europe/Berlin' or '+02:00'",
            quoted(zone)
        ))
    })
}

/// Only the bundled list is used, so that an expression has the same value on every machine.
fn offset_of_name(name: &str, time: Time) -> Option<i32> {
    let zone = TimeZoneDatabase::bundled().get(name).ok().filter(|zone| !zone.is_unknown())?;
    // On the last day of year 9999 clocks are as on the day before.
    let time = Timestamp::new(time.seconds(), 0).unwrap_or(Timestamp::MAX);
    Some(zone.to_offset(time).seconds())
}
