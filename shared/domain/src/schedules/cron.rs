//! The firings of cron plans.

use std::{iter, time::Duration};

use croner::parser::{CronParser, Seconds, Year};
use jiff::{
    SignedDuration, Timestamp, civil,
    tz::{AmbiguousOffset, TimeZone},
};

use crate::Time;
use crate::schedules::{UTC, fields, got, zone_named};

/// How many missed firings are counted at most.
const MOST_COUNTED: usize = 10_000;

const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// More than any clock change. Some zones have skipped a whole day.
const LONGEST_CLOCK_CHANGE: SignedDuration = SignedDuration::from_hours(48);

/// The five fields of cron in a time zone.
///
/// A field is `*`, or a list of numbers, ranges and steps (`*/15`, `1-30/5`). Months and weekdays
/// may be names. A day matches if the day of the month or the day of the week matches. If either
/// field starts with `*` (also as `*/2`), both must match, as in Vixie's cron.
///
/// On nights when clocks change:
///
/// - Minutes and hours that do not start with `*` are fixed times of day, and each local day has
///   each of them once. A time that the clock skips fires at the end of the gap. Several such times
///   are one firing, together with a time that is due then anyway. A time that the clock repeats
///   fires the first time. A day that a zone skips (2011-12-30 in Pacific/Apia) has no firings.
/// - If minutes or hours start with `*`, they follow real time: each real minute fires if its local
///   time matches. Times that the clock repeats fire twice, and times that it skips do not fire. So
///   `*/30 * * * *` fires every half hour of such a night.
///
/// The library is used only to search the calendar, and moments are found here. Its own rule treats
/// only a single minute and hour as fixed: with `0 2,14 * * *` it would skip 02:00 in spring and
/// fire it twice in autumn. It also gives up at gaps of more than two hours, and panics at some
/// gaps at the end of a day (2023-03-25 in America/Nuuk).
///
/// The library searches up to the year 5000, or for 31 million steps. Fields that never match would
/// search that far, so they are refused. The rarest ones that are allowed (29 February on one
/// weekday) match within 40 years, after about 1,600 steps.
#[derive(Clone, Debug)]
pub struct Cron {
    fields: String,
    library: croner::Cron,
    is_real_time: bool,
    zone: TimeZone,
}

impl Cron {
    /// Parses five fields and the name of a time zone. The error says what was expected.
    pub fn parse(fields: &str, timezone: &str) -> Result<Self, String> {
        Self::in_zone(fields, zone_named(timezone)?)
    }

    pub(super) fn in_zone(fields: &str, zone: TimeZone) -> Result<Self, String> {
        let fields = fields.trim_ascii();
        let checked = fields::checked(fields)?;
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .dom_and_dow(checked.both_days)
            .build();
        let library = parser
            .parse(&checked.in_numbers)
            .map_err(|error| format!("expected cron fields, got {}: {error}", got(fields)))?;
        let is_real_time = checked.is_real_time;
        let cron = Self { fields: fields.to_owned(), library, is_real_time, zone };
        // If only one of the two day fields has to match, a weekday matches every week.
        if checked.both_days && !cron.has_a_date() {
            return Err(format!("expected a day that exists in its months, got {}", got(fields)));
        }
        Ok(cron)
    }

    /// Whether one of its days exists in one of its months.
    fn has_a_date(&self) -> bool {
        let months = self.library.pattern.months.values();
        let days = self.library.pattern.days.values();
        // 2000 is a leap year.
        let exists = |month: u16, day: u16| civil::Date::new(2000, month as i8, day as i8).is_ok();
        months.iter().any(|month| days.iter().any(|day| exists(*month, *day)))
    }

    /// The fields as their author wrote them.
    pub fn fields(&self) -> &str {
        &self.fields
    }

    /// The name of the time zone, as IANA spells it.
    pub fn timezone(&self) -> &str {
        self.zone.iana_name().unwrap_or(UTC)
    }

    /// The first firing strictly after a time; `None` beyond the year 5000.
    pub fn next(&self, after: Time) -> Option<Time> {
        // Firings are whole minutes, so a fraction of a second makes no difference here, but it
        // would disturb comparisons in the library.
        let after = Timestamp::from_second(after.as_seconds()).ok()?;
        let at = if self.is_real_time {
            self.next_in_real_time(after)?
        } else {
            self.next_fixed(after)?
        };
        Some(Time::from_millis(at.as_millisecond()))
    }

    /// The next moment whose local time matches. The search goes from one clock change to the next,
    /// because between them the offset is constant and the calendar can be searched.
    fn next_in_real_time(&self, after: Timestamp) -> Option<Timestamp> {
        let mut from = after.checked_add(SECOND).ok()?;
        loop {
            let offset = self.zone.to_offset(from);
            let local = self.library.find_next_occurrence(&offset.to_datetime(from), true).ok()?;
            let at = offset.to_timestamp(local).ok()?;
            let change = match self.zone.following(from).next() {
                Some(change) if change.timestamp() <= at => change.timestamp(),
                _ => return Some(at),
            };
            // If the change is long after `from`, the clock repeats no local time from before
            // `from`. Then nothing matches until shortly before `at`.
            let skipped = if change.duration_since(from) > LONGEST_CLOCK_CHANGE {
                at.checked_sub(LONGEST_CLOCK_CHANGE).ok()?
            } else {
                change
            };
            from = change.max(skipped);
        }
    }

    /// The next fixed time of day. Later local times never have earlier moments, so the first
    /// moment after `after` is the next firing.
    fn next_fixed(&self, after: Timestamp) -> Option<Timestamp> {
        let mut local = self.zone.to_datetime(after);
        loop {
            local = self.library.find_next_occurrence(&local, false).ok()?;
            let at = self.moment_of(local);
            if at.is_some_and(|at| at > after) {
                return at;
            }
        }
    }

    /// The moment of a local time. For a repeated time this is the first one, and for a skipped
    /// time the end of the gap. `None` if the zone skips the whole day.
    fn moment_of(&self, local: civil::DateTime) -> Option<Timestamp> {
        let moments = self.zone.to_ambiguous_timestamp(local);
        let is_gap = matches!(moments.offset(), AmbiguousOffset::Gap { .. });
        let first = moments.earlier().ok()?;
        if !is_gap {
            // jiff takes a time for repeated if the zone's rule would repeat it, even if the clock
            // did not (2023-10-28 in America/Nuuk). Then the earlier moment shows another time.
            let is_shown = self.zone.to_datetime(first) == local;
            return if is_shown { Some(first) } else { moments.later().ok() };
        }
        // For a time in a gap, `earlier` is as far before the gap as `local` is before its end.
        let end = self.zone.following(first).next()?.timestamp();
        let dates =
            [end - Duration::from_secs(1), end].map(|moment| self.zone.to_datetime(moment).date());
        dates.contains(&local.date()).then_some(end)
    }

    /// The latest firing from `due` to `now`, both included, and how many firings came before it,
    /// counted up to 10,000. `None` if there was no firing.
    pub fn missed(&self, due: Time, now: Time) -> Option<(Time, u32)> {
        let first = self.next(due - Duration::from_millis(1)).filter(|first| *first <= now)?;
        let mut latest = first;
        // There is no firing after `quiet` and up to `now`. Each turn halves the time between
        // `latest` and `quiet`.
        let mut quiet = now;
        while let Some(next) = self.next(latest).filter(|next| *next <= quiet) {
            let middle = Time::from_millis(i64::midpoint(next.as_millis(), quiet.as_millis()));
            if let Some(later) = self.next(middle).filter(|later| *later <= quiet) {
                latest = later;
            } else {
                latest = next;
                quiet = middle;
            }
        }
        let firings = iter::successors(Some(first), |firing| self.next(*firing));
        let before = firings.take_while(|firing| *firing < latest).take(MOST_COUNTED).count();
        Some((latest, u32::try_from(before).unwrap_or(u32::MAX)))
    }
}
