//! Durations as people write them ("30 seconds", "2 hours", "1 day", "1 week"), and `Retry-After`.

use std::{fmt, str::FromStr, time::Duration};

use jiff::fmt::rfc2822;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration, and the text in which it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenDuration {
    text: String,
    length: Duration,
}

impl WrittenDuration {
    /// The length of the duration.
    pub fn length(&self) -> Duration {
        self.length
    }
}

impl FromStr for WrittenDuration {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || {
            format!(
                "expected a duration like \"30 seconds\", \"2 hours\", \"1 day\" or \"1 week\", \
                 got {text:?}"
            )
        };
        let (count, unit) = text.split_once(' ').ok_or_else(refuse)?;
        if !count.starts_with(|first: char| first.is_ascii_digit() && first != '0') {
            return Err(refuse());
        }
        let count: u32 = count.parse().map_err(|_| refuse())?;
        let unit = match unit.strip_suffix('s').unwrap_or(unit) {
            "second" => 1,
            "minute" => 60,
            "hour" => 3_600,
            "day" => 86_400,
            "week" => 604_800,
            _ => return Err(refuse()),
        };
        Ok(Self { text: text.to_owned(), length: Duration::from_secs(u64::from(count) * unit) })
    }
}

impl fmt::Display for WrittenDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for WrittenDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for WrittenDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// How long a server asks to wait with its `Retry-After`, in seconds or as a date. A date is
/// compared with the response's own `Date`, so no local clock has to be right.
pub fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let parser = rfc2822::DateTimeParser::new();
    let [until, now] = [value, date?].map(|date| parser.parse_timestamp(date.trim()).ok());
    Some(Duration::try_from(until?.duration_since(now?)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_durations_are_parsed_or_refused() {
        let read = |text: &str| {
            text.parse::<WrittenDuration>().map(|duration| duration.length().as_secs()).ok()
        };
        assert_eq!(read("30 seconds"), Some(30));
        assert_eq!(read("1 minute"), Some(60));
        assert_eq!(read("2 hours"), Some(7_200));
        assert_eq!(read("1 week"), Some(604_800));
        for wrong in [
            "",
            "30",
            "seconds",
            "-1 day",
            "0 days",
            "1  day",
            "1 month",
            "1.5 hours",
            "1 dayss",
            "+1 day",
            "01 day",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
