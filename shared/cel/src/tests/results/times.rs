//! Timestamps and durations.

use serde_json::json;

use super::{assert_errors, assert_values};

#[test]
fn times() {
    assert_values(&[
        ("timestamp(input.when)", json!("2026-01-31T12:30:45.678Z")),
        ("timestamp('2026-01-31T12:30:45+02:00')", json!("2026-01-31T10:30:45Z")),
        ("timestamp(0)", json!("1970-01-01T00:00:00Z")),
        ("int(timestamp('2026-01-31T00:00:00Z'))", json!(1_769_817_600)),
        ("timestamp(input.when) + duration('36h')", json!("2026-02-02T00:30:45.678Z")),
        ("duration('1s') + timestamp(0) - duration('1.5s')", json!("1969-12-31T23:59:59.5Z")),
        (
            "timestamp('2026-03-01T00:00:00Z') - timestamp('2026-02-01T00:00:00Z')",
            json!("2419200s"),
        ),
        (
            "(timestamp('2026-03-01T00:00:00Z') - timestamp('2026-02-01T00:00:00Z')) \
             .getHours() / 24",
            json!(28),
        ),
        ("duration('1h30m') + duration('15s')", json!("5415s")),
        ("duration('1s') - duration('1500ms')", json!("-0.5s")),
        ("string(duration('90m')) + string(timestamp(0))", json!("5400s1970-01-01T00:00:00Z")),
        ("duration('60s') == duration('1m') && duration('1m') < duration('1h')", json!(true)),
        ("timestamp(0) < timestamp(1) && timestamp(timestamp(1)) == timestamp(1)", json!(true)),
        (
            "[timestamp(input.when)].map(t, [t.getFullYear(), t.getMonth(), t.getDate(), \
             t.getDayOfMonth(), t.getDayOfWeek(), t.getDayOfYear(), t.getHours(), \
             t.getMinutes(), t.getSeconds(), t.getMilliseconds()])[0]",
            json!([2026, 0, 31, 30, 6, 30, 12, 30, 45, 678]),
        ),
        (
            "[timestamp('2026-01-01T01:30:00Z')].map(t, [t.getHours('+05:30'), \
             t.getDate('-02:00'), t.getHours('UTC'), t.getHours('02:00')])[0]",
            json!([7, 31, 1, 3]),
        ),
        (
            "[duration('3723.004s')].map(d, [d.getHours(), d.getMinutes(), d.getSeconds(), \
             d.getMilliseconds()])[0]",
            json!([1, 62, 3723, 4]),
        ),
    ]);
}

#[test]
fn errors_of_times() {
    assert_errors(&[
        ("timestamp('yesterday')", "'yesterday' is not a timestamp such as '2026-01-31T12:00:00Z'"),
        ("timestamp(9223372036854775807)", "a time is out of range; years go from 1 to 9999"),
        (
            "timestamp('9999-12-30T12:00:00Z') + duration('24h')",
            "a time is out of range; years go from 1 to 9999",
        ),
        (
            "timestamp('0001-01-01T00:00:00Z') - duration('1ns')",
            "a time is out of range; years go from 1 to 9999",
        ),
        ("duration('soon')", "'soon' is not a duration such as '90s' or '1h30m'"),
        (
            "timestamp(0).getHours('Mars/Base')",
            "'Mars/Base' is not a supported time zone; use 'UTC' or an offset such as '+02:00'",
        ),
        (
            "duration('1s').getDate()",
            "'getDate' takes a timestamp and optionally an offset such as '+02:00', not duration",
        ),
    ]);
}
