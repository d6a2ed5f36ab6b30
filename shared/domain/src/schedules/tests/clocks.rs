//! Unusual clock changes.

use crate::schedules::tests::*;

#[test]
fn lord_howe_changes_by_half_an_hour() {
    let lord_howe =
        |fields: &str, after: &str, count| firings(fields, "Australia/Lord_Howe", after, count);
    // On 2026-10-04 the clock goes from 02:00 (+10:30) to 02:30 (+11), at 15:30 UTC. On 2026-04-05
    // it goes from 02:00 (+11) to 01:30, at 15:00 UTC.
    assert_eq!(
        lord_howe("15 2 * * *", "2026-10-02T20:00:00Z", 3),
        ["2026-10-03T15:30", "2026-10-04T15:15", "2026-10-05T15:15"]
    );
    assert_eq!(
        lord_howe("45 1 * * *", "2026-04-03T20:00:00Z", 2),
        ["2026-04-04T14:45", "2026-04-05T15:15"]
    );
    let halves = ["2026-10-03T15:00", "2026-10-03T15:30", "2026-10-03T16:00"];
    assert_eq!(lord_howe("*/30 * * * *", "2026-10-03T14:30:00Z", 3), halves);
    let halves = ["2026-04-04T14:00", "2026-04-04T14:30", "2026-04-04T15:00", "2026-04-04T15:30"];
    assert_eq!(lord_howe("*/30 * * * *", "2026-04-04T13:30:00Z", 4), halves);
    // On both nights two full hours of the local clock are an hour and a half apart: 01:00 and
    // 03:00, 01:00 and 02:00.
    assert_eq!(
        lord_howe("0 * * * *", "2026-10-03T14:00:00Z", 2),
        ["2026-10-03T14:30", "2026-10-03T16:00"]
    );
    assert_eq!(
        lord_howe("0 * * * *", "2026-04-04T13:30:00Z", 2),
        ["2026-04-04T14:00", "2026-04-04T15:30"]
    );
}

#[test]
fn casablanca_changes_around_ramadan() {
    // In 2026 the clock goes back from 03:00 (+1) to 02:00 (+0) on 15 February, at 02:00 UTC, and
    // forward again on 22 March, at 02:00 UTC.
    let casablanca =
        |fields: &str, after: &str, count| firings(fields, "Africa/Casablanca", after, count);
    assert_eq!(
        casablanca("30 2 * * *", "2026-02-14T12:00:00Z", 2),
        ["2026-02-15T01:30", "2026-02-16T02:30"]
    );
    assert_eq!(
        casablanca("30 2 * * *", "2026-03-21T12:00:00Z", 2),
        ["2026-03-22T02:00", "2026-03-23T01:30"]
    );
    assert_eq!(
        casablanca("0 9 * * *", "2026-02-13T12:00:00Z", 3),
        ["2026-02-14T08:00", "2026-02-15T09:00", "2026-02-16T09:00"]
    );
}

#[test]
fn santiago_skips_midnight() {
    // On 2026-09-06 the clock goes from 00:00 (-4) to 01:00 (-3), at 04:00 UTC. On 2026-04-05 it
    // goes back from 00:00 (-3) to 23:00 of the day before.
    let santiago =
        |fields: &str, after: &str, count| firings(fields, "America/Santiago", after, count);
    assert_eq!(
        santiago("0 0 * * *", "2026-09-05T12:00:00Z", 2),
        ["2026-09-06T04:00", "2026-09-07T03:00"]
    );
    assert_eq!(santiago("0 0 6 9 *", "2026-09-05T12:00:00Z", 1), ["2026-09-06T04:00"]);
    assert_eq!(
        santiago("30 23 * * *", "2026-04-04T12:00:00Z", 2),
        ["2026-04-05T02:30", "2026-04-06T03:30"]
    );
    assert_eq!(
        santiago("0 0 * * *", "2026-04-04T12:00:00Z", 2),
        ["2026-04-05T04:00", "2026-04-06T04:00"]
    );
}

#[test]
fn nuuk_skips_the_last_hour_of_a_day() {
    // On 2026-03-28 the clock goes from 23:00 (-2) to midnight (-1), at 01:00 UTC. The skipped time
    // fires in the first moment of the next day.
    let nuuk = firings("30 23 * * *", "America/Nuuk", "2026-03-27T12:00:00Z", 3);
    assert_eq!(nuuk, ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"]);
}

#[test]
fn troll_skips_two_hours_and_casey_three() {
    assert_eq!(
        firings("0 1 * * *", "Antarctica/Troll", "2026-03-28T12:00:00Z", 2),
        ["2026-03-29T01:00", "2026-03-29T23:00"]
    );
    // On 2020-10-04 the clock goes from 00:01 (+8) to 03:01 (+11).
    assert_eq!(
        firings("30 0 * * *", "Antarctica/Casey", "2020-10-03T12:00:00Z", 2),
        ["2020-10-03T16:01", "2020-10-04T13:30"]
    );
}

#[test]
fn the_day_that_apia_skips_has_no_firings() {
    // 2011-12-31 (+14) follows 2011-12-29 (-10), at 10:00 UTC on the 30th.
    let apia = |fields: &str, count| firings(fields, "Pacific/Apia", "2011-12-29T00:00:00Z", count);
    assert_eq!(apia("0 9 * * *", 3), ["2011-12-29T19:00", "2011-12-30T19:00", "2011-12-31T19:00"]);
    assert_eq!(apia("0 0 * * *", 2), ["2011-12-29T10:00", "2011-12-30T10:00"]);
    assert_eq!(apia("0 9 30 12 *", 1), ["2012-12-29T19:00"]);
    assert_eq!(
        apia("0 */12 * * *", 4),
        ["2011-12-29T10:00", "2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"]
    );
}
