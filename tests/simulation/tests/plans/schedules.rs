//! Four daily plans, and a handwritten table of the times at which they fire.

use std::time::Duration;

use smartspace_domain::Time;

/// 2026-01-01T00:00:00Z.
pub(super) const NEW_YEAR: Time = Time::from_millis(1_767_225_600_000);
pub(super) const DAYS: u32 = 365;
pub(super) const MINUTE: Duration = Duration::from_mins(1);

/// A plan by its schedule and its time zone. The function says when it fires on a day of 2026
/// (month × 100 + day), in UTC (hours × 100 + minutes).
pub(super) type DailyPlan = (&'static str, &'static str, fn(u32) -> u32);

pub(super) const PLANS: [DailyPlan; 4] = [
    ("0 9 * * *", "Europe/Berlin", |date| match date {
        329..1025 => 700,
        _ => 800,
    }),
    ("30 2 * * *", "Europe/Berlin", |date| match date {
        // This night has no 02:30. The plan fires at the end of the gap, at 03:00.
        329 => 100,
        // The night of 25 October has two, and the plan fires at the first.
        330..=1025 => 30,
        _ => 130,
    }),
    ("0 9 * * *", "America/New_York", |date| match date {
        308..1101 => 1300,
        _ => 1400,
    }),
    ("30 2 * * *", "America/New_York", |date| match date {
        308 => 700,
        // The night of 1 November has 01:30 twice, but 02:30 once.
        309..1101 => 630,
        _ => 730,
    }),
];

/// All times of a plan in 2026, from the table above.
pub(super) fn firing_times(plan: DailyPlan) -> Vec<Time> {
    let (.., at) = plan;
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let dates =
        (1..).zip(months).flat_map(|(month, days)| (1..=days).map(move |day| month * 100 + day));
    let moment = |(day, date): (u32, u32)| {
        NEW_YEAR + MINUTE * (day * 24 * 60 + at(date) / 100 * 60 + at(date) % 100)
    };
    (0..DAYS).zip(dates).map(moment).collect()
}
