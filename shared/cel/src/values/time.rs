//! Timestamps.

use jiff::{SignedDuration, civil::DateTime};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// The first second of year 1, where timestamps start, and the one after year 9999.
const FIRST_SECOND: i64 = -62_135_596_800;
const END: i64 = 253_402_300_800;

/// A timestamp, as the time since 1970. The timestamps of `jiff` end a day before the end of year
/// 9999, where those of CEL end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(SignedDuration);

impl Time {
    /// A timestamp, if it is in the years from 1 to 9999.
    pub(crate) fn new(since_1970: SignedDuration) -> Option<Self> {
        let time = Self(since_1970);
        (FIRST_SECOND..END).contains(&time.seconds()).then_some(time)
    }

    /// The time since 1970 of a date and a time of day in UTC.
    pub(crate) fn since_1970_of(time: DateTime) -> SignedDuration {
        time.duration_since(EPOCH)
    }

    pub(crate) fn since_1970(self) -> SignedDuration {
        self.0
    }

    /// The whole seconds since 1970, rounded down.
    pub(crate) fn seconds(self) -> i64 {
        self.0.as_secs() - i64::from(self.0.subsec_nanos() < 0)
    }

    /// The timestamp in RFC 3339 and in UTC.
    pub(crate) fn text(self) -> String {
        self.at(0).map_or_else(String::new, |time| format!("{time}Z"))
    }

    /// Date and time where clocks are ahead of UTC by these seconds. `None` after year 9999.
    pub(crate) fn at(self, offset: i32) -> Option<DateTime> {
        let since_1970 = self.0.checked_add(SignedDuration::from_secs(offset.into()))?;
        EPOCH.checked_add(since_1970).ok()
    }
}
