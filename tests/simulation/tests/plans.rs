//! A year of daily plans, on the simulation's table and clock. They fire exactly as a handwritten
//! table says, which covers the nights when clocks change, even if alarms are late, lost or
//! doubled.

mod schedules;
mod year;

use std::collections::BTreeSet;

use schedules::{DAYS, MINUTE, NEW_YEAR, PLANS, firing_times};
use smartspace_domain::Time;
use smartspace_simulation::chance::Chance;
use year::{Alarm, Year};

/// The days until both time zones have changed their clocks once.
const UNTIL_SUMMER: u32 = 92;

/// The times of each plan in the first days of the year, none of which is missed.
fn times_in(days: u32) -> Vec<BTreeSet<(Time, u64)>> {
    let end = NEW_YEAR + MINUTE * (days * 24 * 60);
    let of = |plan| {
        let times = firing_times(plan).into_iter().filter(|at| *at < end);
        times.map(|at| (at, 0)).collect()
    };
    PLANS.into_iter().map(of).collect()
}

fn any_fate(chance: &Chance) -> Alarm {
    match chance.below("fate", 8) {
        0 => Alarm::Early,
        1 => Alarm::Twice,
        2 => Alarm::AtTheSameMoment,
        // Not so late that the plan misses a time.
        3 => Alarm::Late(1 + chance.below("late", 4)),
        4 => Alarm::Lost,
        5 => Alarm::Restarted,
        _ => Alarm::OnTime,
    }
}

#[test]
fn the_table_has_the_nights_when_clocks_change() {
    let at = |plan: usize, text: &str| firing_times(PLANS[plan]).contains(&text.parse().unwrap());
    assert!(
        at(1, "2026-03-28T01:30:00Z")
            && at(1, "2026-03-29T01:00:00Z")
            && at(1, "2026-03-30T00:30:00Z")
    );
    assert!(
        at(1, "2026-10-25T00:30:00Z")
            && !at(1, "2026-10-25T01:30:00Z")
            && at(1, "2026-10-26T01:30:00Z")
    );
    assert!(
        at(3, "2026-03-08T07:00:00Z")
            && at(3, "2026-03-09T06:30:00Z")
            && at(3, "2026-11-01T07:30:00Z")
    );
    assert!(
        at(0, "2026-03-29T07:00:00Z")
            && at(0, "2026-10-25T08:00:00Z")
            && at(2, "2026-03-08T13:00:00Z")
            && at(2, "2026-11-01T14:00:00Z")
    );
}

#[tokio::test(start_paused = true)]
#[ignore = "by hand and in the nightly job: tests/run --all"]
async fn a_year_of_daily_plans_fires_as_the_table_says() {
    let mut year = Year::begin(1).await;
    year.pass(DAYS, |_| Alarm::OnTime).await;
    assert_eq!(year.fired(), times_in(DAYS));
}

#[tokio::test(start_paused = true)]
async fn doubled_late_and_lost_alarms_and_restarts_change_no_firing() {
    let mut year = Year::begin(2).await;
    year.pass(UNTIL_SUMMER, any_fate).await;
    assert_eq!(year.fired(), times_in(UNTIL_SUMMER));
}

#[tokio::test(start_paused = true)]
#[ignore = "by hand and in the nightly job: tests/run --all"]
async fn doubled_late_and_lost_alarms_and_restarts_change_no_firing_of_a_year() {
    let mut year = Year::begin(2).await;
    year.pass(DAYS, any_fate).await;
    assert_eq!(year.fired(), times_in(DAYS));
}

#[tokio::test(start_paused = true)]
#[ignore = "by hand and in the nightly job: tests/run --all"]
async fn a_firing_counts_the_missed_times_before_it() {
    let mut year = Year::begin(3).await;
    year.pass(DAYS, |chance| match chance.below("fate", 20) {
        0 => Alarm::Late(24 * (1 + chance.below("late", 5))),
        1 => Alarm::Lost,
        2 => Alarm::Restarted,
        _ => Alarm::OnTime,
    })
    .await;
    let mut all = 0;
    for (fired, plan) in year.fired().into_iter().zip(PLANS) {
        // A firing stands for the missed times right before it. The last firing may be in the next
        // year.
        let mut times = firing_times(plan).into_iter();
        for (at, missed) in fired {
            let gone_by: Vec<_> = times.by_ref().take(missed as usize).collect();
            all += gone_by.len();
            assert_eq!(
                times.next().unwrap_or(at),
                at,
                "{plan:?}: {missed} missed times, {gone_by:?}"
            );
        }
        assert_eq!(times.next(), None, "{plan:?}");
    }
    assert!(all > 20, "{all} times were missed");
}
