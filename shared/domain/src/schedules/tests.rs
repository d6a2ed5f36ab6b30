//! When plans fire, by tables made by hand and by a slow search of its own.

mod clocks;
mod forms;
mod nights;
mod reference;
mod when;

use super::Cron;
use crate::Time;

/// A time, seconds left out at will.
fn at(text: &str) -> Time {
    text.parse().unwrap()
}

/// The first `count` firings after `after`, up to the minute: `2026-03-29T01:00`.
fn firings(fields: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let cron = Cron::parse(fields, zone).unwrap();
    let firings = std::iter::successors(cron.next(at(after)), |firing| cron.next(*firing));
    firings.take(count).map(minute).collect()
}

/// A whole minute, without the rest.
fn minute(time: Time) -> String {
    time.to_string().strip_suffix(":00.000Z").unwrap().to_owned()
}
