//! Timestamps and durations.

use serde_json::json;

use super::{assert_errors, assert_refused, assert_values};

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
        ("timestamp(input.name)", "'Ada' is not a timestamp such as '2026-01-31T12:00:00Z'"),
        ("timestamp(9223372036854775807)", "a time is out of range; years go from 1 to 9999"),
        (
            "timestamp('9999-12-31T23:59:59.999999999Z') + duration('1ns')",
            "a time is out of range; years go from 1 to 9999",
        ),
        (
            "timestamp('0001-01-01T00:00:00Z') - duration('1ns')",
            "a time is out of range; years go from 1 to 9999",
        ),
        (
            "timestamp('9999-12-31T23:59:59Z').getFullYear('+01:00')",
            "a time is out of range; years go from 1 to 9999",
        ),
        ("duration(input.name)", "'Ada' is not a duration such as '90s' or '1h30m'"),
        (
            "timestamp(0).getHours(input.name)",
            "'Ada' is not a time zone such as 'Europe/Berlin' or '+02:00'",
        ),
        (
            "duration('1s').getDate()",
            "'getDate' takes a timestamp and optionally a time zone such as 'Europe/Berlin' or \
             '+02:00', not duration",
        ),
    ]);
}

/// Vectors of cel-spec (`timestamp_selectors_tz`), and the clock changes of a year in Berlin.
#[test]
fn time_zones_have_names() {
    let time = "timestamp('2009-02-13T23:31:30Z')";
    for (part, expected) in [
        ("getDate('Australia/Sydney')", 14),
        ("getDayOfMonth('US/Central')", 12),
        ("getDayOfWeek('US/Central')", 5),
        ("getDayOfYear('US/Central')", 43),
        ("getMonth('America/St_Johns')", 1),
        ("getMinutes('Asia/Kathmandu')", 16),
        ("getHours('UTC')", 23),
        ("getHours('-02:30')", 21),
    ] {
        assert_values(&[(&format!("{time}.{part}"), json!(expected))]);
    }
    for (time, expected) in [
        ("2026-01-01T10:00:00Z", 11),
        ("2026-03-29T00:59:59.9Z", 1),
        ("2026-03-29T01:00:00Z", 3),
        ("2026-07-01T10:00:00Z", 12),
        ("2026-10-25T01:00:00Z", 2),
        ("1969-12-31T23:59:59.5Z", 0),
        ("9999-12-31T12:00:00Z", 13),
    ] {
        let expression = format!("timestamp('{time}').getHours('europe/berlin')");
        assert_values(&[(&expression, json!(expected))]);
    }
}

#[test]
fn timestamps_have_the_form_of_rfc_3339_in_the_years_1_to_9999() {
    let last = "9999-12-31T23:59:59.999999999Z";
    assert_values(&[
        ("timestamp('9999-12-31T23:59:59Z')", json!("9999-12-31T23:59:59Z")),
        ("string(timestamp('9999-12-31T23:59:59.999999999Z'))", json!(last)),
        ("timestamp('9999-12-31T23:59:59Z').getFullYear('-08:00')", json!(9999)),
        ("timestamp('0001-01-01T00:00:00Z')", json!("0001-01-01T00:00:00Z")),
        ("timestamp(253402300799)", json!("9999-12-31T23:59:59Z")),
        ("int(timestamp('9999-12-31T23:59:59.9Z'))", json!(253_402_300_799_i64)),
        ("int(timestamp('1969-12-31T23:59:59.5Z'))", json!(-1)),
        ("timestamp('2024-02-29T00:00:00.50-23:59')", json!("2024-02-29T23:59:00.5Z")),
    ]);
    for wrong in [
        "yesterday",
        "2026-01-31",
        "20260131T120000Z",
        "2026-01-31T12:00Z",
        "2026-01-31 12:00:00Z",
        "2026-01-31T12:00:00",
        "2026-01-31T12:00:00+02",
        "2026-01-31T12:00:00+0200",
        "2026-01-31T12:00:00,5Z",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00Z[Europe/Berlin]",
        "2026-02-29T12:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T12:00:00+24:00",
        "+002026-01-31T12:00:00Z",
        "２026-01-31T12:00:00Z",
    ] {
        let expected = format!("'{wrong}' is not a timestamp such as '2026-01-31T12:00:00Z'");
        assert_refused(&[(&format!("timestamp('{wrong}')"), &expected)]);
    }
    let out_of_range = "a time is out of range; years go from 1 to 9999";
    assert_refused(&[
        ("timestamp('0000-12-31T23:59:59Z')", out_of_range),
        ("timestamp('9999-12-31T23:59:59-00:01')", out_of_range),
    ]);
}

#[test]
fn durations_have_the_form_of_go() {
    assert_values(&[
        ("duration('.5s') + duration('1.s')", json!("1.5s")),
        ("duration('-1h30m')", json!("-5400s")),
        ("duration('+1m1m')", json!("120s")),
        ("duration('1.5h')", json!("5400s")),
        ("duration('1us') + duration('1µs') + duration('1ns')", json!("0.000002001s")),
        ("duration('0') == duration('-0')", json!(true)),
        ("duration('0.0000000019s')", json!("0.000000001s")),
    ]);
    for wrong in [
        "soon", "", "-", "1", "s", ".s", "1..5s", "PT1H", "1h 30m", "1 hour", "01:00:00", "1h ago",
        "1d", "--1s", "1e3s",
    ] {
        let expected = format!("'{wrong}' is not a duration such as '90s' or '1h30m'");
        assert_refused(&[(&format!("duration('{wrong}')"), &expected)]);
    }
    assert_refused(&[(
        "timestamp(0).getHours('Mars/Base')",
        "'Mars/Base' is not a time zone such as 'Europe/Berlin' or '+02:00'",
    )]);
}
