//! Points in time, written as in the API and in the table.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time, in milliseconds since 1970 UTC. Its text is RFC 3339 with exactly three
/// decimals, so that texts sort like times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// From milliseconds since 1970 UTC.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 UTC.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970 UTC, the unit of the table's TTL.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// The text without the fraction of a second, as prompts show it: `2026-02-18T15:07:00Z`.
    pub fn to_whole_seconds(self) -> String {
        let mut text = self.to_string();
        text.truncate(19);
        text.push('Z');
        text
    }

    /// The day in UTC: `2026-02-18`.
    pub fn to_date(self) -> String {
        let mut text = self.to_string();
        text.truncate(10);
        text
    }

    /// The time of the day in UTC, in minutes: `15:07`.
    pub fn to_minutes(self) -> String {
        self.to_string()[11..16].to_owned()
    }

    /// The name of the day of the week in UTC: `Wednesday`.
    pub fn weekday(self) -> &'static str {
        // Day 0 was a Thursday.
        const DAYS: [&str; 7] =
            ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
        DAYS[self.as_seconds().div_euclid(86_400).rem_euclid(7) as usize]
    }
}

impl std::ops::Add<Duration> for Time {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl std::ops::Sub<Duration> for Time {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{time:.3}")
    }
}

impl FromStr for Time {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        Ok(Self(text.parse::<jiff::Timestamp>()?.as_millisecond()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| de::Error::custom(format!("expected an RFC 3339 time, got {text:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_sort_like_times_and_can_be_parsed() {
        let times = [0, 1, 999, 1000, 1_771_427_220_000, 1_771_427_220_050].map(Time::from_millis);
        let texts = times.map(|time| time.to_string());
        assert!(texts.is_sorted());
        assert_eq!(texts[1], "1970-01-01T00:00:00.001Z");
        assert_eq!(times[5].to_whole_seconds(), "2026-02-18T15:07:00Z");
        assert_eq!(texts.map(|text| text.parse::<Time>().unwrap()), times);
    }
}
