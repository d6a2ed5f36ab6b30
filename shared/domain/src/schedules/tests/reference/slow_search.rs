//! Finds the firings of an expression by looking at each minute.

use jiff::{SignedDuration, Timestamp, ToSpan, civil::DateTime, tz::TimeZone};

use crate::Time;

/// Whether a field matches `value`, or `also`, the other number of the same day.
fn field_matches(field: &str, value: i8, also: i8, last: i8, names: &str) -> bool {
    let number = |text: &str| {
        names
            .split(' ')
            .position(|name| name.eq_ignore_ascii_case(text))
            .map_or_else(|| text.parse().unwrap(), |at| at as i8)
    };
    field.split(',').any(|item| {
        let (range, step) = item.split_once('/').unwrap_or((item, "1"));
        let (start, end) = match range.split_once('-') {
            Some((start, end)) => (number(start), number(end)),
            None if range == "*" => (i8::from(last == 31 || last == 12), last),
            None => (number(range), number(range)),
        };
        [value, also].iter().any(|value| {
            (start..=end).contains(value) && (value - start) % step.parse::<i8>().unwrap() == 0
        })
    })
}

const MONTHS: &str = "- jan feb mar apr may jun jul aug sep oct nov dec";
const WEEKDAYS: &str = "sun mon tue wed thu fri sat";

fn day_matches(fields: &str, local: DateTime) -> bool {
    let [_, _, day, month, weekday] = fields.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let sunday_0 = local.weekday().to_sunday_zero_offset();
    let sunday_7 = local.weekday().to_monday_one_offset();
    let on_day = field_matches(day, local.day(), local.day(), 31, "");
    let on_weekday = field_matches(weekday, sunday_0, sunday_7, 7, WEEKDAYS);
    let both = day.starts_with('*') || weekday.starts_with('*');
    field_matches(month, local.month(), local.month(), 12, MONTHS)
        && if both { on_day && on_weekday } else { on_day || on_weekday }
}

fn matches(fields: &str, local: DateTime) -> bool {
    let mut parts = fields.split(' ');
    let minute = parts.next().unwrap();
    let hour = parts.next().unwrap();
    let fits = |field, value, last| field_matches(field, value, value, last, "");
    fits(minute, local.minute(), 59) && fits(hour, local.hour(), 23) && day_matches(fields, local)
}

/// The first match after `after` in UTC, within `days`.
pub(super) fn slow_next(fields: &str, after: DateTime, days: i64) -> Option<DateTime> {
    let start = after.with().second(0).subsec_nanosecond(0).build().unwrap() + 1.minute();
    let end = start + days.days();
    let mut time = start;
    while time < end {
        if !day_matches(fields, time) {
            time = (time.date() + 1.day()).at(0, 0, 0, 0);
        } else if matches(fields, time) {
            return Some(time);
        } else {
            time += 1.minute();
        }
    }
    None
}

/// All firings of a day and a half after `start`, by walking through real minutes.
pub(super) fn slow_firings(fields: &str, zone: &TimeZone, start: Timestamp) -> Vec<Time> {
    let is_real_time = fields.split(' ').take(2).any(|field| field.starts_with('*'));
    // Start a day earlier, so that it is known which local times have passed.
    let whole_minutes = start.as_second().div_euclid(60) * 60;
    let mut time = Timestamp::from_second(whole_minutes).unwrap() - SignedDuration::from_hours(25);
    let mut reached = zone.to_datetime(time);
    let mut firings = Vec::new();
    while time < start + SignedDuration::from_hours(36) {
        time += SignedDuration::from_mins(1);
        let local = zone.to_datetime(time);
        // A fixed time fires when the clock passes it for the first time, unless its day is
        // skipped.
        let mut fires = is_real_time && matches(fields, local);
        while reached < local {
            let before = reached.date();
            reached += 1.minute();
            let is_shown = reached.date() == local.date()
                || reached.date() == before
                    && zone.to_datetime(time - SignedDuration::from_mins(1)).date() == before;
            fires |= !is_real_time && is_shown && matches(fields, reached);
        }
        if fires && time > start {
            firings.push(Time::from_millis(time.as_millisecond()));
        }
    }
    firings
}
