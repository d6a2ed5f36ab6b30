//! Schedules: when plans fire.
//!
//! [`When`] is what an author wrote. It is checked and becomes a [`Schedule`] and a first firing.
//! [`Cron`] finds the further firings. Cron fields, the calendar and time zones come from
//! libraries.

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
use utoipa::ToSchema;

pub use crate::schedules::cron::Cron;
use crate::{Error, Result, Time, durations::WrittenDuration};

/// How far in the future a one-time plan may fire: ten years with any number of leap days.
const FURTHEST: Duration = Duration::from_hours(3_653 * 24);

/// The default time zone of a cron plan.
const UTC: &str = "UTC";

/// The schedule of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Schedule {
    /// The plan fires once and is then deleted.
    #[schema(rename_all = "camelCase")]
    Once {
        /// The duration with which it was set, such as "2 hours"; null if it was set with a time.
        #[schema(required)]
        run_after: Option<String>,
    },
    /// The plan fires repeatedly, by the five fields of cron.
    Cron {
        /// The five fields.
        cron: String,
        /// The IANA time zone.
        timezone: String,
    },
}

/// When a plan is to fire, as its author wrote it: exactly one of the three times, and perhaps a
/// time zone for the last two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct When {
    /// Once, after this duration: "30 seconds", "2 hours", "1 day", "1 week"; at most ten years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_after: Option<String>,
    /// Once, at this time: RFC 3339, or without an offset if `timezone` is given. It must be in the
    /// future, and at most ten years ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_at: Option<String>,
    /// Repeatedly, by the five fields of cron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// The IANA time zone of `cron` (default UTC), or of a `scheduledAt` without an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl Schedule {
    /// The types of schedules that this version knows.
    pub(crate) const TYPES: &[&str] = &["once", "cron"];
}

impl When {
    /// Whether any field is given, even if it is only the time zone.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// The schedule, and its first firing after `now`. Faults get `pointer` in front of their
    /// pointers.
    pub fn read(&self, now: Time, pointer: &str) -> Result<(Schedule, Time)> {
        let read = match (&self.run_after, &self.scheduled_at, &self.cron) {
            (Some(text), None, None) => self.read_run_after(text, now),
            (None, Some(text), None) => self.read_scheduled_at(text, now),
            (None, None, Some(fields)) => self.read_cron(fields, now),
            _ => {
                let names = self.names();
                return Err(Error::invalid(
                    pointer,
                    format!("expected exactly one of runAfter, scheduledAt and cron, got {names}"),
                ));
            }
        };
        read.map_err(|fault| Error::invalid(format!("{pointer}/{}", fault.field), fault.detail))
    }

    fn read_run_after(&self, text: &str, now: Time) -> Result<(Schedule, Time), FieldFault> {
        self.refuse_timezone("runAfter")?;
        let duration: WrittenDuration =
            text.parse().map_err(|_| FieldFault::new("runAfter", not_a_duration(text)))?;
        if duration.length() > FURTHEST {
            let detail = format!("expected at most 10 years, got {}", got(text));
            return Err(FieldFault::new("runAfter", detail));
        }
        Ok((Schedule::Once { run_after: Some(text.to_owned()) }, now + duration.length()))
    }

    fn read_scheduled_at(&self, text: &str, now: Time) -> Result<(Schedule, Time), FieldFault> {
        let fault = |detail: String| FieldFault::new("scheduledAt", detail);
        let at = match written_time(text).ok_or_else(|| fault(not_a_time(text)))? {
            WrittenTime::Exact(at) => {
                self.refuse_timezone("a scheduledAt that has an offset")?;
                at
            }
            WrittenTime::Local(local) => {
                let Some(name) = &self.timezone else {
                    let expected = "expected an offset such as Z or +01:00, or a timezone";
                    return Err(fault(format!("{expected}, got {}", got(text))));
                };
                let zone = zone_named(name).map_err(|it| FieldFault::new("timezone", it))?;
                let moments = zone.to_ambiguous_timestamp(local);
                moments.compatible().map_err(|_| fault(not_a_time(text)))?
            }
        };
        let at = Time::from_millis(at.as_millisecond());
        if at <= now || at > now + FURTHEST {
            return Err(fault(format!(
                "expected a time after now, {now}, and within 10 years, got {}",
                got(text)
            )));
        }
        Ok((Schedule::Once { run_after: None }, at))
    }

    fn read_cron(&self, fields: &str, now: Time) -> Result<(Schedule, Time), FieldFault> {
        let name = self.timezone.as_deref().unwrap_or(UTC);
        let zone = zone_named(name).map_err(|detail| FieldFault::new("timezone", detail))?;
        let cron = Cron::in_zone(fields, zone).map_err(|detail| FieldFault::new("cron", detail))?;
        let first = cron.next(now).ok_or_else(|| {
            FieldFault::new("cron", format!("expected a time that occurs, got {}", got(fields)))
        })?;
        let schedule =
            Schedule::Cron { cron: cron.fields().to_owned(), timezone: cron.timezone().to_owned() };
        Ok((schedule, first))
    }

    /// Refuses a time zone, since `other` needs none.
    fn refuse_timezone(&self, other: &str) -> Result<(), FieldFault> {
        match &self.timezone {
            None => Ok(()),
            Some(name) => {
                let detail = format!("expected no timezone with {other}, got {}", got(name));
                Err(FieldFault::new("timezone", detail))
            }
        }
    }

    /// The names of the given times.
    fn names(&self) -> String {
        let times = [
            ("runAfter", &self.run_after),
            ("scheduledAt", &self.scheduled_at),
            ("cron", &self.cron),
        ];
        let names = times
            .iter()
            .filter(|(_, time)| time.is_some())
            .map(|(name, _)| *name)
            .collect::<Vec<_>>();
        if names.is_empty() { "none".to_owned() } else { names.join(" and ") }
    }
}

/// A fault of one field of [`When`].
struct FieldFault {
    field: &'static str,
    detail: String,
}

impl FieldFault {
    fn new(field: &'static str, detail: String) -> Self {
        Self { field, detail }
    }
}

/// A point in time as an author wrote it, with or without an offset.
enum WrittenTime {
    Exact(Timestamp),
    Local(civil::DateTime),
}

/// Parses RFC 3339, in which seconds and offset may be left out. The form is checked here, because
/// the library accepts more forms, and ignores an offset when it parses a local time.
fn written_time(text: &str) -> Option<WrittenTime> {
    let bytes = text.as_bytes();
    let separators = [bytes.get(4)?, bytes.get(7)?, bytes.get(10)?, bytes.get(13)?];
    let is_rfc_3339 =
        matches!(separators, [b'-', b'-', b'T' | b't' | b' ', b':']) && !text.contains('[');
    let rest = text.get(11..).filter(|_| is_rfc_3339)?;
    if rest.contains(['Z', 'z', '+', '-']) {
        text.parse().ok().map(WrittenTime::Exact)
    } else {
        text.parse().ok().map(WrittenTime::Local)
    }
}

/// The time zone with this name, ignoring case.
fn zone_named(name: &str) -> Result<TimeZone, String> {
    // Only the bundled list, so that a plan fires at the same times on every machine.
    let zone = TimeZoneDatabase::bundled()
        .get(name)
        .ok()
        .filter(|zone| !zone.is_unknown() && zone.iana_name().is_some());
    zone.ok_or_else(|| {
        format!("expected an IANA time zone like \"Europe/Berlin\" or \"UTC\", got {}", got(name))
    })
}

fn not_a_duration(text: &str) -> String {
    format!(
        "expected a duration like \"30 seconds\", \"2 hours\", \"1 day\" or \"1 week\", got {}",
        got(text)
    )
}

fn not_a_time(text: &str) -> String {
    format!(
        "expected a time like \"2026-02-18T09:00:00Z\", or \"2026-02-18T09:00\" and a timezone, \
         got {}",
        got(text)
    )
}

/// A wrong text as a fault quotes it, cut to 60 characters.
fn got(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
