//! Random expressions and times, compared with an independent slow search, minute by minute.

mod slow_search;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use proptest::prelude::*;

use self::slow_search::{slow_firings, slow_next};
use crate::schedules::tests::*;

/// An item of a list: a number, a range, or a step.
fn item(first: u8, last: u8) -> impl Strategy<Value = String> {
    let range = (first..=last).prop_flat_map(move |start| (Just(start), start..=last)).boxed();
    prop_oneof![
        4 => (first..=last).prop_map(|value| value.to_string()),
        2 => range.clone().prop_map(|(start, end)| format!("{start}-{end}")),
        1 => (range, 1..=last).prop_map(|((start, end), step)| format!("{start}-{end}/{step}")),
        1 => (1..=last).prop_map(|step| format!("*/{step}")),
    ]
}

/// A field: in `stars` of 10 cases a star, else a list of up to three items.
fn field(first: u8, last: u8, stars: u32) -> impl Strategy<Value = String> {
    let list = prop::collection::vec(item(first, last), 1..4).prop_map(|items| items.join(","));
    prop_oneof![stars => Just("*".to_owned()), 10 - stars => list]
}

fn month() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => field(1, 12, 5),
        1 => Just("FEB".to_owned()),
        1 => Just("mar-Oct/3,12".to_owned()),
    ]
}

fn weekday() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => field(0, 7, 5),
        1 => Just("Mon-FRI".to_owned()),
        1 => Just("sun,wed".to_owned()),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let parts = (field(0, 59, 3), field(0, 23, 3), field(1, 31, 5), month(), weekday());
    parts.prop_map(|(minute, hour, day, month, weekday)| {
        [minute, hour, day, month, weekday].join(" ")
    })
}

/// Hours of the night on any day, when clocks change.
fn nightly() -> impl Strategy<Value = String> {
    let hour = prop_oneof![field(0, 4, 3), Just("23".to_owned()), Just("0,2,9".to_owned())];
    (field(0, 59, 2), hour).prop_map(|(minute, hour)| format!("{minute} {hour} * * *"))
}

fn zone() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&[
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "Pacific/Apia",
        "America/Santiago",
        "America/Nuuk",
        "Antarctica/Troll",
        "Antarctica/Casey",
        "Asia/Gaza",
        "Africa/Cairo",
        "Asia/Kathmandu",
    ])
}

/// Milliseconds from 2000 to 2150.
fn moment() -> impl Strategy<Value = i64> {
    946_684_800_000..5_680_281_600_000_i64
}

proptest! {
    #[test]
    fn the_next_firing_is_the_first_minute_that_matches(
        fields in expression(),
        millis in moment(),
    ) {
        let after = Timestamp::from_millisecond(millis).unwrap();
        let expected = slow_next(&fields, TimeZone::UTC.to_datetime(after), 366 * 45);
        let expected = expected.map(|time| time.strftime("%Y-%m-%dT%H:%M").to_string());
        let cron = Cron::parse(&fields, "UTC").ok();
        let next = cron.and_then(|cron| cron.next(Time::from_millis(millis)));
        prop_assert_eq!(next.map(minute), expected);
    }

    #[test]
    fn the_next_firing_is_the_same_from_any_time_since_the_last_one(
        fields in expression(),
        zone in zone(),
        millis in moment(),
        percent in 0..100_i64,
    ) {
        let Ok(cron) = Cron::parse(&fields, zone) else { return Ok(()) };
        let mut before = Time::from_millis(millis);
        for _ in 0..20 {
            let next = cron.next(before).unwrap();
            prop_assert!(next > before);
            let gap = next.as_millis() - before.as_millis() - 1;
            let between = before.as_millis() + gap * percent / 100;
            prop_assert_eq!(cron.next(Time::from_millis(between)), Some(next));
            before = next;
        }
    }

    #[test]
    fn accepted_fields_always_have_a_next_firing(
        fields in "[-*/,0-9a-zA-Z#@?+ ]{0,60}",
        five in prop::collection::vec("[-*/,0-9LW]{1,6}", 5),
    ) {
        for fields in [fields, five.join(" ")] {
            if let Ok(cron) = Cron::parse(&fields, "UTC") {
                prop_assert!(cron.next(at("2026-02-18T09:00:00Z")).is_some(), "{}", fields);
            }
        }
    }
}

#[test]
fn real_time_skips_a_gap_at_the_end_of_a_day() {
    // At 22:00 of the 25th Nuuk's clock went to 23:00.
    let cron = Cron::parse("*/30 22,23 * * *", "America/Nuuk").unwrap();
    let firings =
        std::iter::successors(cron.next(at("2023-03-25T00:00:00Z")), |firing| cron.next(*firing));
    let expected = [
        "2023-03-25T01:00:00Z",
        "2023-03-25T01:30:00Z",
        "2023-03-25T02:00:00Z",
        "2023-03-25T02:30:00Z",
    ];
    let expected = expected.into_iter().chain([
        "2023-03-26T01:00:00Z",
        "2023-03-26T01:30:00Z",
        "2023-03-27T00:00:00Z",
    ]);
    assert_eq!(firings.take(7).collect::<Vec<_>>(), expected.map(at).collect::<Vec<_>>());
}

#[test]
fn a_time_fires_once_where_the_library_sees_a_repeated_hour_that_was_none() {
    // Nuuk kept its clock that night; only from the next year on it has summer time.
    let cron = Cron::parse("0 23 * * *", "America/Nuuk").unwrap();
    assert_eq!(cron.next(at("2023-10-29T00:59:59Z")), Some(at("2023-10-29T01:00:00Z")));
    assert_eq!(cron.next(at("2023-10-29T01:00:00Z")), Some(at("2023-10-30T01:00:00Z")));
}

#[test]
fn a_rare_date_in_real_time_is_found_after_many_clock_changes() {
    let cron = Cron::parse("* 0 29 2 *", "Europe/Berlin").unwrap();
    assert_eq!(cron.next(at("2024-03-01T00:00:00Z")), Some(at("2028-02-28T23:00:00Z")));
    // It fires in the repeated hour of that night, and then not for a year.
    let cron = Cron::parse("* 2 25 10 *", "Europe/Berlin").unwrap();
    assert_eq!(cron.next(at("2026-10-25T00:59:00Z")), Some(at("2026-10-25T01:00:00Z")));
    assert_eq!(cron.next(at("2026-10-25T01:59:00Z")), Some(at("2027-10-25T00:00:00Z")));
}

// Each of these takes some milliseconds.
proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn firings_around_a_clock_change_equal_those_of_the_slow_search(
        fields in nightly(),
        zone in zone(),
        from in 946_684_800..2_208_988_800_i64,
        before in 0..24 * 3_600_i64,
    ) {
        let cron = Cron::parse(&fields, zone).unwrap();
        let zone = TimeZone::get(zone).unwrap();
        let from = Timestamp::from_second(from).unwrap();
        let change = zone.following(from).next().map_or(from, |change| change.timestamp());
        let start = change - SignedDuration::from_secs(before);
        let end = Time::from_millis((start + SignedDuration::from_hours(36)).as_millisecond());
        let first = cron.next(Time::from_millis(start.as_millisecond()));
        let firings = std::iter::successors(first, |firing| cron.next(*firing));
        let firings = firings.take_while(|firing| *firing < end).map(minute).collect::<Vec<_>>();
        let expected = slow_firings(&fields, &zone, start).into_iter();
        let expected = expected.filter(|firing| *firing < end).map(minute).collect::<Vec<_>>();
        // Only the first difference, since there may be hundreds of firings.
        let equal = firings.iter().zip(&expected).take_while(|(one, other)| one == other).count();
        prop_assert_eq!((firings.len(), firings.get(equal)), (expected.len(), expected.get(equal)));
    }

    #[test]
    fn missed_firings_are_those_up_to_now(
        fields in expression(),
        zone in zone(),
        millis in moment(),
        hours in -1..200_i64,
    ) {
        let Ok(cron) = Cron::parse(&fields, zone) else { return Ok(()) };
        let due = cron.next(Time::from_millis(millis)).unwrap();
        let now = Time::from_millis(due.as_millis() + hours * 3_600_000);
        let firings = std::iter::successors(Some(due), |firing| cron.next(*firing));
        let firings = firings.take_while(|firing| *firing <= now).collect::<Vec<_>>();
        let expected =
            firings.last().map(|latest| (*latest, (firings.len() as u32 - 1).min(10_000)));
        prop_assert_eq!(cron.missed(due, now), expected);
    }
}

#[test]
fn missed_firings_are_counted_up_to_ten_thousand() {
    let cron = Cron::parse("* * * * *", "Europe/Berlin").unwrap();
    let due = at("2020-01-01T00:00:00Z");
    let now = at("2026-02-18T09:00:30Z");
    assert_eq!(cron.missed(due, now), Some((at("2026-02-18T09:00:00Z"), 10_000)));
    assert_eq!(cron.missed(due, due), Some((due, 0)));
    assert_eq!(cron.missed(at("2020-01-01T00:00:30Z"), at("2020-01-01T00:00:59Z")), None);
    assert_eq!(cron.missed(now, due), None);
}
