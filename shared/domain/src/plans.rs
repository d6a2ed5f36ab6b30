//! What an agent is to do later: once, or again and again. When that is stands in [`crate::schedules`].

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Error, Result, Time,
    ids::PlanId,
    memories::check_value,
    schedules::{Cron, When},
};

/// A plan of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// Its name, 1 to 128 characters.
    pub name: String,
    /// What is to be done, 1 to 4,000 characters.
    pub instruction: String,
    /// Once, or by cron.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// Whether it fires.
    pub status: PlanStatus,
    /// When it fires next; of a paused one that fires once, its time; null of a paused one by cron.
    #[schema(required)]
    pub next_run_at: Option<Time>,
    /// When it last fired.
    #[schema(required)]
    pub last_run_at: Option<Time>,
    /// When it was first set.
    pub created_at: Time,
    /// When it was last changed.
    pub updated_at: Time,
}

/// When a plan fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Schedule {
    /// At one time; then it is over.
    #[schema(rename_all = "camelCase")]
    Once {
        /// The words in which it was set, such as "2 hours".
        #[schema(required)]
        run_after: Option<String>,
    },
    /// By the five fields of cron.
    Cron {
        /// The fields.
        cron: String,
        /// An IANA time zone.
        timezone: String,
    },
}

/// Whether a plan fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanStatus {
    /// At its times.
    #[default]
    Active,
    /// Not until it is set active again.
    Paused,
}

/// A plan as it is to be: what is left out stays as it is. A new one needs a name, an instruction and exactly one of `runAfter`, `scheduledAt` and `cron`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanChange {
    /// Its name, 1 to 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128, pattern = r"^[^\u0000]*$")]
    pub name: Option<String>,
    /// What is to be done, 1 to 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 4000, pattern = r"^[^\u0000]*$")]
    pub instruction: Option<String>,
    /// From now: "30 seconds", "2 hours", "1 day", "1 week"; at most 10 years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[1-9][0-9]{0,7} (second|minute|hour|day|week)s?$")]
    pub run_after: Option<String>,
    /// A time that is yet to come: RFC 3339, or without an offset where `timezone` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_at: Option<String>,
    /// The five fields of cron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub cron: Option<String>,
    /// An IANA time zone; UTC unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// `paused` keeps it from firing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanStatus>,
}

/// A plan's name, in characters.
const NAME_CHARS: usize = 128;

impl Plan {
    /// Whether it fires again and again.
    pub fn repeats(&self) -> bool {
        matches!(self.schedule, Schedule::Cron { .. })
    }

    /// What its cron fields say; none where it fires once.
    ///
    /// # Errors
    /// Where this version can't read what another one kept.
    pub fn cron(&self) -> Result<Option<Cron>> {
        let Schedule::Cron { cron, timezone } = &self.schedule else { return Ok(None) };
        let unreadable = |error| Error::Internal(format!("the plan {} can't be read: {error}", self.id));
        Cron::parse(cron, timezone).map(Some).map_err(unreadable)
    }
}

impl PlanChange {
    /// The plan `id` after this change; `before` is what it was, none where it is new. Faults stand below `pointer`.
    pub fn apply(self, id: PlanId, before: Option<Plan>, now: Time, pointer: &str) -> Result<Plan> {
        if let Some(name) = &self.name {
            let fine = (1..=NAME_CHARS).contains(&name.chars().count()) && !name.trim().is_empty() && !name.contains('\0');
            let wrong = || Error::invalid(format!("{pointer}/name"), "expected 1 to 128 characters, not only blanks, without NUL");
            fine.then_some(()).ok_or_else(wrong)?;
        }
        if let Some(instruction) = &self.instruction {
            check_value(instruction, &format!("{pointer}/instruction"))?;
        }
        let when = self.when(before.as_ref());
        let set = if when.is_given() || before.is_none() { Some(when.read(now, pointer)?) } else { None };
        let needed = |field: &str| Error::invalid(format!("{pointer}/{field}"), format!("needed where the plan is new: its {field}"));
        let mut plan = match (before, set) {
            (Some(before), None) => before,
            (Some(before), Some((schedule, next))) => Plan { schedule, next_run_at: Some(next), ..before },
            (None, set) => {
                let name = self.name.clone().ok_or_else(|| needed("name"))?;
                let instruction = self.instruction.clone().ok_or_else(|| needed("instruction"))?;
                let (schedule, next) = set.ok_or_else(|| needed("time"))?;
                Plan {
                    id,
                    name,
                    instruction,
                    schedule,
                    status: PlanStatus::Active,
                    next_run_at: Some(next),
                    last_run_at: None,
                    created_at: now,
                    updated_at: now,
                }
            }
        };
        plan.name = self.name.unwrap_or(plan.name);
        plan.instruction = self.instruction.unwrap_or(plan.instruction);
        plan.status = self.status.unwrap_or(plan.status);
        plan.updated_at = now;
        if let Some(cron) = plan.cron()? {
            // What goes by while it is paused was not missed.
            plan.next_run_at = match plan.status {
                PlanStatus::Paused => None,
                PlanStatus::Active => plan.next_run_at.or_else(|| cron.next(now)),
            };
        }
        Ok(plan)
    }

    /// When it is to fire. Cron fields alone stay in the time zone that is there, and a time zone alone is that of the cron fields which are there.
    fn when(&self, before: Option<&Plan>) -> When {
        let Self { run_after, scheduled_at, mut cron, mut timezone, .. } = self.clone();
        if let Some(Schedule::Cron { cron: fields, timezone: zone }) = before.map(|plan| &plan.schedule)
            && run_after.is_none()
            && scheduled_at.is_none()
            && (cron.is_some() || timezone.is_some())
        {
            cron.get_or_insert_with(|| fields.clone());
            timezone.get_or_insert_with(|| zone.clone());
        }
        When { run_after, scheduled_at, cron, timezone }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOON: Time = Time::from_millis(1_771_416_000_000);

    fn change(json: &str) -> PlanChange {
        serde_json::from_str(json).unwrap()
    }

    fn applied(json: &str, before: Option<Plan>) -> Result<Plan> {
        change(json).apply(PlanId::new(NOON, 1), before, NOON, "/plans/0")
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let made =
            applied(r#"{"name": "Report", "instruction": "Post it", "cron": "0 9 * * *", "timezone": "Europe/Berlin"}"#, None).unwrap();
        let tomorrow_at_8 = NOON + Duration::from_hours(20);
        assert_eq!(made.next_run_at, Some(tomorrow_at_8));
        let paused = applied(r#"{"status": "paused", "name": "Daily"}"#, Some(made.clone())).unwrap();
        assert_eq!(paused, Plan { name: "Daily".into(), status: PlanStatus::Paused, next_run_at: None, ..made.clone() });
        let active = applied(r#"{"status": "active", "name": "Report"}"#, Some(paused)).unwrap();
        assert_eq!(active, made);
        let utc = applied(r#"{"timezone": "UTC"}"#, Some(made.clone())).unwrap();
        assert_eq!(utc.next_run_at, Some(tomorrow_at_8 + Duration::from_hours(1)));
        let later = applied(r#"{"cron": "0 10 * * *"}"#, Some(made.clone())).unwrap();
        assert_eq!(later.schedule, Schedule::Cron { cron: "0 10 * * *".into(), timezone: "Europe/Berlin".into() });
        let once = applied(r#"{"runAfter": "2 hours"}"#, Some(made)).unwrap();
        assert_eq!(once.schedule, Schedule::Once { run_after: Some("2 hours".into()) });
        assert_eq!(once.next_run_at, Some(NOON + Duration::from_hours(2)));
        let waits = applied(r#"{"status": "paused"}"#, Some(once.clone())).unwrap();
        assert_eq!(waits, Plan { status: PlanStatus::Paused, ..once });
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let wrong = |json: &str| match applied(json, None) {
            Err(Error::Invalid(faults)) => faults[0].pointer.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(wrong(r#"{"instruction": "i", "runAfter": "1 day"}"#), "/plans/0/name");
        assert_eq!(wrong(r#"{"name": " ", "instruction": "i", "runAfter": "1 day"}"#), "/plans/0/name");
        assert_eq!(wrong(r#"{"name": "n", "runAfter": "1 day"}"#), "/plans/0/instruction");
        assert_eq!(wrong(r#"{"name": "n", "instruction": "", "runAfter": "1 day"}"#), "/plans/0/instruction");
        assert!(wrong(r#"{"name": "n", "instruction": "i"}"#).starts_with("/plans/0"));
    }
}
