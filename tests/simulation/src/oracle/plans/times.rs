//! The oracle's own calendar, for the schedules of the simulation: only their minutes matter.

use serde_json::Value;
use smartspace_domain::Time;

const MINUTE: i64 = 60_000;

pub(super) fn time(value: &Value) -> Option<Time> {
    value.as_str()?.parse().ok()
}

/// The first firing after a time, of `*/n * * * *` or `a-59/n * * * *`. The time zone does not
/// matter: the simulation uses none with an offset of half an hour.
pub(super) fn next(cron: &str, after: Time) -> Time {
    let field = cron.split(' ').next().unwrap_or_default();
    let (range, step) = field.split_once('/').unwrap_or((field, "1"));
    let first: i64 = range.split('-').next().and_then(|first| first.parse().ok()).unwrap_or(0);
    let step: i64 = step.parse().unwrap_or(1);
    let fires = |minute: &i64| {
        let of_hour = minute.rem_euclid(60);
        of_hour >= first && (of_hour - first) % step == 0
    };
    let from = after.as_millis().div_euclid(MINUTE) + 1;
    // Each hour has a firing.
    Time::from_millis((from..from + 120).find(fires).unwrap_or(from) * MINUTE)
}

/// The time from the request to the firing.
pub(super) fn run_after(text: &Value) -> Option<std::time::Duration> {
    let (count, unit) = text.as_str()?.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    Some(std::time::Duration::from_secs(match unit.trim_end_matches('s') {
        "second" => count,
        "minute" => count * 60,
        _ => count * 3_600,
    }))
}
