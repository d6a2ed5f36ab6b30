//! Firings of plans, compared with tables made by hand and with an independent slow search.

mod clocks;
mod forms;
mod nights;
mod reference;
mod when;

use crate::Time;
use crate::schedules::Cron;

/// A time, with or without seconds.
fn at(text: &str) -> Time {
    text.parse().unwrap()
}

/// The first `count` firings after `after`, as minutes: `2026-03-29T01:00`.
fn firings(fields: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let cron = Cron::parse(fields, zone).unwrap();
    let firings = std::iter::successors(cron.next(at(after)), |firing| cron.next(*firing));
    firings.take(count).map(minute).collect()
}

/// The text of a time that is a whole minute.
fn minute(time: Time) -> String {
    time.to_string().strip_suffix(":00.000Z").unwrap().to_owned()
}
