//! Nights when clocks change in two well-known zones: every firing of two years.

use jiff::{ToSpan, civil::Date};

use crate::schedules::tests::*;

/// A zone with its offset in winter, and the dates between which it is an hour more. Written by
/// hand from the law of each zone.
struct Zone {
    name: &'static str,
    winter: i64,
    summers: [(&'static str, &'static str); 2],
    /// The firings of 02:30 on the four nights of a change.
    nights: [&'static str; 4],
}

const ZONES: [Zone; 2] = [
    Zone {
        name: "Europe/Berlin",
        winter: 1,
        summers: [("2026-03-29", "2026-10-25"), ("2027-03-28", "2027-10-31")],
        // In spring there is no 02:30: the clock goes from 01:59 to 03:00, at 01:00 UTC. In autumn
        // there are two, and the first is in summer time.
        nights: ["2026-03-29T01:00", "2026-10-25T00:30", "2027-03-28T01:00", "2027-10-31T00:30"],
    },
    Zone {
        name: "America/New_York",
        winter: -5,
        summers: [("2026-03-08", "2026-11-01"), ("2027-03-14", "2027-11-07")],
        // In spring the local clock has the same gap, at 07:00 UTC. In autumn 01:00 to 01:59 comes
        // twice, and 02:30 comes once, in winter time.
        nights: ["2026-03-08T07:00", "2026-11-01T07:30", "2027-03-14T07:00", "2027-11-07T07:30"],
    },
];

impl Zone {
    /// The moments of a local time on every day of 2026 and 2027, calculated.
    fn daily(&self, hour: i8, minute: i8) -> Vec<String> {
        let first = Date::constant(2026, 1, 1);
        let days = first.series(1.day()).take_while(|day| day.year() < 2028);
        days.map(|day| {
            let date = day.to_string();
            // The times asked for are after the change, so the first date is in summer time and the
            // second is not.
            let summer = self
                .summers
                .iter()
                .any(|(start, end)| *start <= date.as_str() && date.as_str() < *end);
            let local = day.at(hour, minute, 0, 0);
            (local - (self.winter + i64::from(summer)).hours())
                .strftime("%Y-%m-%dT%H:%M")
                .to_string()
        })
        .collect()
    }
}

/// The first 730 firings from the start of 2026 on, in local time.
fn two_years(fields: &str, zone: &Zone) -> Vec<String> {
    let start = firings("59 23 31 12 *", zone.name, "2025-12-01T00:00:00Z", 1).remove(0);
    firings(fields, zone.name, &format!("{start}:00Z"), 730)
}

#[test]
fn nine_in_the_morning_fires_once_a_day_for_two_years() {
    for zone in &ZONES {
        assert_eq!(two_years("0 9 * * *", zone), zone.daily(9, 0), "{}", zone.name);
    }
}

#[test]
fn half_past_two_at_night_fires_once_a_day_for_two_years() {
    for zone in &ZONES {
        let mut expected = zone.daily(2, 30);
        let [spring, autumn, next_spring, next_autumn] = zone.nights;
        for night in [spring, autumn, next_spring, next_autumn] {
            let day = expected.iter().position(|time| time[..10] == night[..10]).unwrap();
            night.clone_into(&mut expected[day]);
        }
        assert_eq!(two_years("30 2 * * *", zone), expected, "{}", zone.name);
    }
}

#[test]
fn a_repeated_time_fires_the_first_time() {
    let new_york =
        |fields: &str, after: &str, count| firings(fields, "America/New_York", after, count);
    assert_eq!(
        new_york("30 1 * * *", "2026-10-31T12:00:00Z", 2),
        ["2026-11-01T05:30", "2026-11-02T06:30"]
    );
    // Also if the search starts between the two.
    assert_eq!(new_york("30 1 * * *", "2026-11-01T06:00:00Z", 1), ["2026-11-02T06:30"]);
}

#[test]
fn lists_and_ranges_are_fixed_times_too() {
    let berlin = |fields: &str, after: &str, count| firings(fields, "Europe/Berlin", after, count);
    assert_eq!(
        berlin("0 2,14 * * *", "2026-03-28T20:00:00Z", 3),
        ["2026-03-29T01:00", "2026-03-29T12:00", "2026-03-30T00:00"]
    );
    assert_eq!(
        berlin("0 2,14 * * *", "2026-10-24T20:00:00Z", 3),
        ["2026-10-25T00:00", "2026-10-25T13:00", "2026-10-26T01:00"]
    );
    // The skipped times are one firing, together with the time that is due then.
    assert_eq!(
        berlin("0,20 1-3 * * *", "2026-03-28T20:00:00Z", 4),
        ["2026-03-29T00:00", "2026-03-29T00:20", "2026-03-29T01:00", "2026-03-29T01:20"]
    );
}

#[test]
fn fields_with_a_star_follow_real_time() {
    for (zone, nights) in [
        ("Europe/Berlin", ["2026-03-29", "2026-10-25"]),
        ("America/New_York", ["2026-03-08", "2026-11-01"]),
    ] {
        for night in nights {
            let start = format!("{night}T00:00:00Z");
            let halves = (0..24).flat_map(|hour| {
                [format!("{night}T{hour:02}:00"), format!("{night}T{hour:02}:30")]
            });
            assert_eq!(
                firings("*/30 * * * *", zone, &start, 47),
                halves.skip(1).collect::<Vec<_>>(),
                "{zone} {night}"
            );
            let hours = (1..24).map(|hour| format!("{night}T{hour:02}:00"));
            assert_eq!(
                firings("0 * * * *", zone, &start, 23),
                hours.collect::<Vec<_>>(),
                "{zone} {night}"
            );
        }
    }
    let berlin = |after: &str, count| firings("*/30 2 * * *", "Europe/Berlin", after, count);
    assert_eq!(berlin("2026-03-28T12:00:00Z", 2), ["2026-03-30T00:00", "2026-03-30T00:30"]);
    let twice = [
        "2026-10-25T00:00",
        "2026-10-25T00:30",
        "2026-10-25T01:00",
        "2026-10-25T01:30",
        "2026-10-26T01:00",
    ];
    assert_eq!(berlin("2026-10-24T12:00:00Z", 5), twice);
}
