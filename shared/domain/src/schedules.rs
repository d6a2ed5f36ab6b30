//! When plans fire: what an author wrote, checked, and the times that follow from it.
//!
//! Cron, the calendar and time zones are libraries'; [`Cron`] says how they are put together.

mod cron;
mod fields;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::{
    Timestamp, civil,
    tz::{TimeZone, TimeZoneDatabase},
};
use serde::{Deserialize, Serialize};

pub use self::cron::Cron;
use crate::{Error, Result, Time, durations::WrittenDuration, plans::Schedule};

/// The furthest that a single firing may lie ahead: ten years, whatever leap days they hold.
const FURTHEST: Duration = Duration::from_hours(3_653 * 24);

/// The zone of a cron plan that names none.
const UTC: &str = "UTC";

/// When a plan fires, as its author wrote it: exactly one of the three times, and a time zone for the last two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct When {
    /// Once, so long from now: "30 seconds", "2 hours", "1 day", "1 week"; at most ten years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_after: Option<String>,
    /// Once, at this time: RFC 3339, or without an offset where a time zone stands beside it; in the future, at most ten years ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_at: Option<String>,
    /// Again and again, by the usual five fields of cron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// The IANA time zone of `cron` ("UTC" where there is none), or of a `scheduledAt` without an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl When {
    /// Whether anything is said at all, be it only a time zone.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// The schedule, and its first firing after `now`. Faults stand below `pointer`, such as `/plans/0/cron`.
    pub fn read(&self, now: Time, pointer: &str) -> Result<(Schedule, Time)> {
        let fault = |field: &str, detail: String| Error::invalid(format!("{pointer}/{field}"), detail);
        let zone = |name: &str| zone_named(name).map_err(|detail| fault("timezone", detail));
        let no_zone = |beside: &str| match &self.timezone {
            Some(name) => Err(fault("timezone", format!("expected none beside {beside}, got {}", got(name)))),
            None => Ok(()),
        };
        match (&self.run_after, &self.scheduled_at, &self.cron) {
            (Some(text), None, None) => {
                no_zone("runAfter")?;
                let length = text.parse::<WrittenDuration>().map_err(|_| fault("runAfter", not_a_duration(text)))?.length();
                if length > FURTHEST {
                    return Err(fault("runAfter", format!("expected at most 10 years, got {}", got(text))));
                }
                Ok((Schedule::Once { run_after: Some(text.clone()) }, now + length))
            }
            (None, Some(text), None) => {
                let at = match written_time(text).ok_or_else(|| fault("scheduledAt", not_a_time(text)))? {
                    WrittenTime::Exact(at) => {
                        no_zone("a scheduledAt with an offset")?;
                        at
                    }
                    WrittenTime::Local(local) => {
                        let Some(name) = &self.timezone else {
                            let detail =
                                format!("expected an offset in it, such as Z or +01:00, or a timezone beside it, got {}", got(text));
                            return Err(fault("scheduledAt", detail));
                        };
                        zone(name)?.to_ambiguous_timestamp(local).compatible().map_err(|_| fault("scheduledAt", not_a_time(text)))?
                    }
                };
                let at = Time::from_millis(at.as_millisecond());
                if at <= now || at > now + FURTHEST {
                    return Err(fault("scheduledAt", format!("expected a time after now, {now}, and within 10 years, got {}", got(text))));
                }
                Ok((Schedule::Once { run_after: None }, at))
            }
            (None, None, Some(fields)) => {
                let zone = zone(self.timezone.as_deref().unwrap_or(UTC))?;
                let cron = Cron::in_zone(fields, zone).map_err(|detail| fault("cron", detail))?;
                let first = cron.next(now).ok_or_else(|| fault("cron", format!("expected a time that comes, got {}", got(fields))))?;
                Ok((Schedule::Cron { cron: cron.fields().to_owned(), timezone: cron.timezone().to_owned() }, first))
            }
            _ => Err(Error::invalid(pointer, format!("expected exactly one of runAfter, scheduledAt and cron, got {}", self.names()))),
        }
    }

    /// The names of the times that are given.
    fn names(&self) -> String {
        let times = [("runAfter", &self.run_after), ("scheduledAt", &self.scheduled_at), ("cron", &self.cron)];
        let names = times.iter().filter(|(_, time)| time.is_some()).map(|(name, _)| *name).collect::<Vec<_>>();
        if names.is_empty() { "none".to_owned() } else { names.join(" and ") }
    }
}

/// A point in time as it is written.
enum WrittenTime {
    Exact(Timestamp),
    Local(civil::DateTime),
}

/// Reads RFC 3339, seconds and offset being left out at will. The library reads more forms than that, and passes over the offset of what it reads as local.
fn written_time(text: &str) -> Option<WrittenTime> {
    let bytes = text.as_bytes();
    let separators = [bytes.get(4)?, bytes.get(7)?, bytes.get(10)?, bytes.get(13)?];
    let usual = matches!(separators, [b'-', b'-', b'T' | b't' | b' ', b':']) && !text.contains('[');
    let rest = text.get(11..).filter(|_| usual)?;
    if rest.contains(['Z', 'z', '+', '-']) { text.parse().ok().map(WrittenTime::Exact) } else { text.parse().ok().map(WrittenTime::Local) }
}

/// The zone of this name, in any case.
fn zone_named(name: &str) -> Result<TimeZone, String> {
    // The bundled list and no other: a plan fires at the same times wherever it is read.
    let zone = TimeZoneDatabase::bundled().get(name).ok().filter(|zone| !zone.is_unknown() && zone.iana_name().is_some());
    zone.ok_or_else(|| format!("expected an IANA time zone like \"Europe/Berlin\" or \"UTC\", got {}", got(name)))
}

fn not_a_duration(text: &str) -> String {
    format!("expected a duration like \"30 seconds\", \"2 hours\", \"1 day\" or \"1 week\", got {}", got(text))
}

fn not_a_time(text: &str) -> String {
    format!("expected a time like \"2026-02-18T09:00:00Z\", or \"2026-02-18T09:00\" with a timezone beside it, got {}", got(text))
}

/// What was written, in quotes; of what is long only its beginning.
fn got(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
