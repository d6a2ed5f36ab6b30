//! Plans that fire again and again.

use std::{iter, time::Duration};

use croner::parser::{CronParser, Seconds, Year};
use jiff::{
    SignedDuration, Timestamp, civil,
    tz::{AmbiguousOffset, TimeZone},
};

use super::{UTC, fields, got, zone_named};
use crate::Time;

/// Up to how many missed firings are counted.
const MOST_COUNTED: usize = 10_000;

const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// A day, which some zones have left out, with room.
const NO_CLOCK_CHANGES_BY: SignedDuration = SignedDuration::from_hours(48);

/// The five fields of cron in a time zone.
///
/// A field is `*`, numbers, ranges, lists and steps (`*/15`, `1-30/5`), with names of months and weekdays. A day fires that matches the day of the month or the
/// day of the week; where one of these begins with `*` (also in `*/2`), as in Vixie's cron, it has to match both.
///
/// On nights when clocks change:
///
/// - Minutes and hours without a leading `*` are fixed times of day. Each local day has each of them once: a time that the clock skips is made up for at the
///   very moment after the gap (several such times are one firing, also with a time that falls on that moment anyway), and of a time that it repeats the first
///   counts. A day that a zone leaves out as a whole (Pacific/Apia's 2011-12-30) has no times.
/// - Where either begins with `*` they are a rhythm: every real minute fires whose local time matches. Times that the clock repeats fire twice, those that it
///   skips don't. So `*/30 * * * *` goes on every half hour.
///
/// The library's own rule takes only a single minute and hour for fixed (at `0 2,14 * * *` it would leave out 02:00 in spring and fire it twice in autumn),
/// gives up at gaps of more than two hours, and panics at some that end a day (America/Nuuk's of 2023-03-25). So it searches by the calendar alone, and moments
/// are found here.
///
/// A search of the library ends with the year 5000, or after 31 million steps. What never fires would search up to there, so it is refused before; the rarest
/// that is left (29 February on one weekday) comes within 40 years, after some 1,600 steps.
#[derive(Clone, Debug)]
pub struct Cron {
    fields: String,
    library: croner::Cron,
    is_rhythm: bool,
    zone: TimeZone,
}

impl Cron {
    /// Reads five fields and the name of a time zone. The error says what was expected.
    pub fn parse(fields: &str, timezone: &str) -> Result<Self, String> {
        Self::in_zone(fields, zone_named(timezone)?)
    }

    /// Reads five fields.
    pub(super) fn in_zone(fields: &str, zone: TimeZone) -> Result<Self, String> {
        let fields = fields.trim_ascii();
        let checked = fields::checked(fields)?;
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).dom_and_dow(checked.both_days).build();
        let library =
            parser.parse(&checked.in_numbers).map_err(|error| format!("expected fields of cron, got {}: {error}", got(fields)))?;
        let cron = Self { fields: fields.to_owned(), library, is_rhythm: checked.is_rhythm, zone };
        // Where only one of the days has to match, some weekday does every week.
        if checked.both_days && !cron.has_a_date() {
            return Err(format!("expected a day that its months have, got {}", got(fields)));
        }
        Ok(cron)
    }

    /// Whether some year has one of its days.
    fn has_a_date(&self) -> bool {
        let (months, days) = (self.library.pattern.months.values(), self.library.pattern.days.values());
        let leap_year = |month: u16, day: u16| civil::Date::new(2000, month as i8, day as i8).is_ok();
        months.iter().any(|month| days.iter().any(|day| leap_year(*month, *day)))
    }

    /// The fields as they were written.
    pub fn fields(&self) -> &str {
        &self.fields
    }

    /// The zone's name as IANA spells it.
    pub fn timezone(&self) -> &str {
        self.zone.iana_name().unwrap_or(UTC)
    }

    /// The first firing strictly after a time; none beyond the year 5000.
    pub fn next(&self, after: Time) -> Option<Time> {
        // Firings are whole minutes: a fraction of a second makes no difference here, but would confuse comparisons of the library.
        let after = Timestamp::from_second(after.as_seconds()).ok()?;
        let at = if self.is_rhythm { self.next_of_rhythm(after)? } else { self.next_fixed(after)? };
        Some(Time::from_millis(at.as_millisecond()))
    }

    /// The next moment whose local time matches. Between two changes of the clock local times go on evenly, as the calendar says.
    fn next_of_rhythm(&self, after: Timestamp) -> Option<Timestamp> {
        let mut from = after.checked_add(SECOND).ok()?;
        loop {
            let offset = self.zone.to_offset(from);
            let local = self.library.find_next_occurrence(&offset.to_datetime(from), true).ok()?;
            let at = offset.to_timestamp(local).ok()?;
            let change = match self.zone.following(from).next() {
                Some(change) if change.timestamp() <= at => change.timestamp(),
                _ => return Some(at),
            };
            // Where the clock only changes later, it can repeat no local time from before `from`: then nothing matches until shortly before `at`.
            let skipped =
                if change.duration_since(from) > NO_CLOCK_CHANGES_BY { at.checked_sub(NO_CLOCK_CHANGES_BY).ok()? } else { change };
            from = change.max(skipped);
        }
    }

    /// The next of the fixed times of day. Later local times never have earlier moments, so the first moment after `after` is the next.
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

    /// The moment of a local time: the first of two, the end of the gap where there is none, nothing where its whole day is left out.
    fn moment_of(&self, local: civil::DateTime) -> Option<Timestamp> {
        let moments = self.zone.to_ambiguous_timestamp(local);
        let is_gap = matches!(moments.offset(), AmbiguousOffset::Gap { .. });
        let first = moments.earlier().ok()?;
        if !is_gap {
            return Some(first);
        }
        // In a gap, `earlier` is as far before it as `local` is before its end.
        let end = self.zone.following(first).next()?.timestamp();
        let dates = [end - Duration::from_secs(1), end].map(|moment| self.zone.to_datetime(moment).date());
        dates.contains(&local.date()).then_some(end)
    }

    /// Of the firings from `due` to `now`, both included: the latest, and how many came before it, counted up to 10,000.
    pub fn missed(&self, due: Time, now: Time) -> Option<(Time, u32)> {
        let first = self.next(due - Duration::from_millis(1)).filter(|first| *first <= now)?;
        let mut latest = first;
        // Nothing fires after it, up to now: each turn halves what lies between.
        let mut quiet = now;
        while let Some(next) = self.next(latest).filter(|next| *next <= quiet) {
            let middle = Time::from_millis(i64::midpoint(next.as_millis(), quiet.as_millis()));
            if let Some(later) = self.next(middle).filter(|later| *later <= quiet) {
                latest = later;
            } else {
                (latest, quiet) = (next, middle);
            }
        }
        let firings = iter::successors(Some(first), |firing| self.next(*firing));
        let before = firings.take_while(|firing| *firing < latest).take(MOST_COUNTED).count();
        Some((latest, u32::try_from(before).unwrap_or(u32::MAX)))
    }
}
