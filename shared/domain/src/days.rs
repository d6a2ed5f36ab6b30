//! Days in UTC, in which usage and budgets are counted.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Time;

const HOUR_MILLIS: i64 = 60 * 60 * 1000;
const MILLIS: i64 = HOURS as i64 * HOUR_MILLIS;

/// The hours of a day.
pub const HOURS: usize = 24;

/// A day in UTC. Its text is `2026-02-18`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// The day that contains `time`.
    pub fn of(time: Time) -> Self {
        Self(time.as_millis().div_euclid(MILLIS))
    }

    /// The hour of its day that contains `time`: 0 to 23.
    pub fn hour_of(time: Time) -> usize {
        let hour = time.as_millis().div_euclid(HOUR_MILLIS).rem_euclid(HOURS as i64);
        usize::try_from(hour).unwrap_or(0)
    }

    /// Its first moment.
    pub fn begin(self) -> Time {
        Time::from_millis(self.0.saturating_mul(MILLIS))
    }

    /// The day after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The day this many days before it.
    #[must_use]
    pub fn before(self, days: u16) -> Self {
        Self(self.0.saturating_sub(days.into()))
    }

    /// The days from this one to `last`, both included.
    pub fn to(self, last: Self) -> impl ExactSizeIterator<Item = Self> {
        let count = u32::try_from(last.0 - self.0 + 1).unwrap_or(0);
        (0..count).map(move |days| Self(self.0 + i64::from(days)))
    }

    /// When an item of the day expires that is stored for `time` after it.
    pub fn expiry(self, time: Duration) -> i64 {
        (self.next().begin() + time).as_seconds()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.begin().to_date())
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let day = format!("{text}T00:00:00Z").parse().map(Self::of);
        // The parser of times takes more than one form of a date.
        day.ok()
            .filter(|day| day.to_string() == text)
            .ok_or_else(|| format!("expected a day such as 2026-02-18, got {text:?}"))
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_and_written() {
        let day: Day = "2026-02-28".parse().unwrap();
        assert_eq!(day.to_string(), "2026-02-28");
        assert_eq!(day.next().to_string(), "2026-03-01");
        assert_eq!(day.next().begin().to_string(), "2026-03-01T00:00:00.000Z");
        assert_eq!(Day::of(day.begin()), day);
        assert_eq!(Day::of(day.begin() - Duration::from_millis(1)), day.before(1));
        assert_eq!(Day::hour_of(day.begin()), 0);
        assert_eq!(Day::hour_of("2026-02-28T15:59:59.999Z".parse().unwrap()), 15);
        assert_eq!(Day::hour_of(day.begin() - Duration::from_millis(1)), 23);
        for wrong in ["", "2026-2-28", "20260228", "2026-02-30", "2026-02-28T00:00:00Z", "today"] {
            assert!(wrong.parse::<Day>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn days_are_counted_from_the_first_to_the_last() {
        let day: Day = "2026-02-28".parse().unwrap();
        let days: Vec<_> = day.to(day.next().next()).map(|day| day.to_string()).collect();
        assert_eq!(days, ["2026-02-28", "2026-03-01", "2026-03-02"]);
        assert_eq!(day.to(day.before(1)).len(), 0);
    }
}
