//! [`When`] as authors write it.

use serde_json::{Value, json};

use crate::schedules::tests::*;
use crate::{plans::Schedule, schedules::When};

const NOW: &str = "2026-02-18T09:00:00Z";

/// The schedule and its first firing, or the fault.
fn read(when: Value) -> Result<(Schedule, Time), String> {
    let when = serde_json::from_value::<When>(when).unwrap();
    when.read(at(NOW), "/plans/0").map_err(|error| error.to_string())
}

fn once(run_after: Option<&str>, first: &str) -> (Schedule, Time) {
    (Schedule::Once { run_after: run_after.map(Into::into) }, at(first))
}

#[test]
fn each_of_the_three_times_is_accepted() {
    assert_eq!(
        read(json!({"runAfter": "2 hours"})),
        Ok(once(Some("2 hours"), "2026-02-18T11:00:00Z"))
    );
    assert_eq!(
        read(json!({"runAfter": "521 weeks"})),
        Ok(once(Some("521 weeks"), "2036-02-13T09:00:00Z"))
    );
    for exact in [
        "2026-02-19T09:00:00+01:00",
        "2026-02-19T08:00Z",
        "2026-02-19t08:00:00.000z",
        "2026-02-19 08:00:00Z",
    ] {
        assert_eq!(
            read(json!({"scheduledAt": exact})),
            Ok(once(None, "2026-02-19T08:00:00Z")),
            "{exact}"
        );
    }
    for local in ["2026-02-19T09:00", "2026-02-19T09:00:00"] {
        assert_eq!(
            read(json!({"scheduledAt": local, "timezone": "europe/berlin"})),
            Ok(once(None, "2026-02-19T08:00:00Z")),
            "{local}"
        );
    }
    let cron =
        |timezone: &str| Schedule::Cron { cron: "0 9 * * *".into(), timezone: timezone.into() };
    assert_eq!(
        read(json!({"cron": " 0 9 * * * ", "timezone": "europe/berlin"})),
        Ok((cron("Europe/Berlin"), at("2026-02-19T08:00:00Z")))
    );
    assert_eq!(read(json!({"cron": "0 9 * * *"})), Ok((cron("UTC"), at("2026-02-19T09:00:00Z"))));
}

#[test]
fn a_skipped_local_time_is_moved_and_a_repeated_one_is_the_first() {
    let berlin = |local: &str| read(json!({"scheduledAt": local, "timezone": "Europe/Berlin"}));
    assert_eq!(berlin("2026-03-29T02:30"), Ok(once(None, "2026-03-29T01:30:00Z")));
    assert_eq!(berlin("2026-10-25T02:30"), Ok(once(None, "2026-10-25T00:30:00Z")));
}

/// The refusals of these values, broken into lines of the width of the code.
fn refusals<const N: usize>(wrong: [Value; N]) -> String {
    let texts = wrong.map(|when| read(when).unwrap_err());
    texts.join("\n").replace(": expected", ":\n  expected").replace(", got", ",\n  got")
}

#[test]
fn exactly_one_time_is_expected() {
    let wrong = [
        json!({}),
        json!({"timezone": "UTC"}),
        json!({"runAfter": "1 day", "cron": "0 9 * * *"}),
        json!({"runAfter": "1 day", "scheduledAt": "2026-02-19T09:00:00Z", "cron": "0 9 * * *"}),
    ];
    insta::assert_snapshot!(refusals(wrong), @r"
    /plans/0:
      expected exactly one of runAfter, scheduledAt and cron,
      got none
    /plans/0:
      expected exactly one of runAfter, scheduledAt and cron,
      got none
    /plans/0:
      expected exactly one of runAfter, scheduledAt and cron,
      got runAfter and cron
    /plans/0:
      expected exactly one of runAfter, scheduledAt and cron,
      got runAfter and scheduledAt and cron
    ");
}

#[test]
fn faults_of_run_after_point_to_the_wrong_field() {
    let wrong = [
        json!({"runAfter": "tomorrow"}),
        json!({"runAfter": "522 weeks"}),
        json!({"runAfter": "4294967295 weeks"}),
        json!({"runAfter": "1 day", "timezone": "UTC"}),
    ];
    insta::assert_snapshot!(refusals(wrong), @r#"
    /plans/0/runAfter:
      expected a duration like "30 seconds", "2 hours", "1 day" or "1 week",
      got "tomorrow"
    /plans/0/runAfter:
      expected at most 10 years,
      got "522 weeks"
    /plans/0/runAfter:
      expected at most 10 years,
      got "4294967295 weeks"
    /plans/0/timezone:
      expected no timezone with runAfter,
      got "UTC"
    "#);
}

#[test]
fn faults_of_scheduled_at_point_to_the_wrong_field() {
    let long = "x".repeat(1_000);
    let wrong = [
        json!({"scheduledAt": "tomorrow"}),
        json!({"scheduledAt": "2026-02-19"}),
        json!({"scheduledAt": "2026-02-30T09:00:00Z"}),
        json!({"scheduledAt": "2026-02-19T09:00+01:00[Europe/Berlin]"}),
        json!({"scheduledAt": "20260219T090000Z"}),
        json!({"scheduledAt": "2026-02-19T09:00"}),
        json!({"scheduledAt": "2026-02-19T09:00Z", "timezone": "Europe/Berlin"}),
        json!({"scheduledAt": "2026-02-19T09:00", "timezone": "Berlin"}),
        json!({"scheduledAt": NOW}),
        json!({"scheduledAt": "2036-02-19T09:00:01Z"}),
        json!({"scheduledAt": long, "timezone": long}),
    ];
    insta::assert_snapshot!(refusals(wrong), @r#"
    /plans/0/scheduledAt:
      expected a time like "2026-02-18T09:00:00Z", or "2026-02-18T09:00" and a timezone,
      got "tomorrow"
    /plans/0/scheduledAt:
      expected a time like "2026-02-18T09:00:00Z", or "2026-02-18T09:00" and a timezone,
      got "2026-02-19"
    /plans/0/scheduledAt:
      expected a time like "2026-02-18T09:00:00Z", or "2026-02-18T09:00" and a timezone,
      got "2026-02-30T09:00:00Z"
    /plans/0/scheduledAt:
      expected a time like "2026-02-18T09:00:00Z", or "2026-02-18T09:00" and a timezone,
      got "2026-02-19T09:00+01:00[Europe/Berlin]"
    /plans/0/scheduledAt:
      expected a time like "2026-02-18T09:00:00Z", or "2026-02-18T09:00" and a timezone,
      got "20260219T090000Z"
    /plans/0/scheduledAt:
      expected an offset such as Z or +01:00, or a timezone,
      got "2026-02-19T09:00"
    /plans/0/timezone:
      expected no timezone with a scheduledAt that has an offset,
      got "Europe/Berlin"
    /plans/0/timezone:
      expected an IANA time zone like "Europe/Berlin" or "UTC",
      got "Berlin"
    /plans/0/scheduledAt:
      expected a time after now, 2026-02-18T09:00:00.000Z, and within 10 years,
      got "2026-02-18T09:00:00Z"
    /plans/0/scheduledAt:
      expected a time after now, 2026-02-18T09:00:00.000Z, and within 10 years,
      got "2036-02-19T09:00:01Z"
    /plans/0/scheduledAt:
      expected a time like "2026-02-18T09:00:00Z", or "2026-02-18T09:00" and a timezone,
      got "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"…
    "#);
}

#[test]
fn faults_of_cron_point_to_the_wrong_field() {
    let long = "x".repeat(1_000);
    let wrong = [
        json!({"cron": "0 9 30 2 *"}),
        json!({"cron": "0 9 * * *", "timezone": "Mars/Olympus"}),
        json!({"cron": "0 9 * * *", "timezone": long}),
    ];
    insta::assert_snapshot!(refusals(wrong), @r#"
    /plans/0/cron:
      expected a day that exists in its months,
      got "0 9 30 2 *"
    /plans/0/timezone:
      expected an IANA time zone like "Europe/Berlin" or "UTC",
      got "Mars/Olympus"
    /plans/0/timezone:
      expected an IANA time zone like "Europe/Berlin" or "UTC",
      got "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"…
    "#);
}

#[test]
fn any_field_counts_as_given() {
    assert!(!When::default().is_given());
    assert!(When { timezone: Some("UTC".into()), ..When::default() }.is_given());
    let when = When { cron: Some("0 9 * * *".into()), ..When::default() };
    assert_eq!(serde_json::to_value(&when).unwrap(), json!({"cron": "0 9 * * *"}));
    assert!(serde_json::from_value::<When>(json!({"every": "day"})).is_err());
}
