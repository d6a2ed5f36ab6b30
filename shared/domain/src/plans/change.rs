//! Changes of plans: what a request or a tool call may set.

use serde::{Deserialize, Serialize};
use utoipa::{ToSchema, openapi::schema::Object};

use crate::{
    Error, Result, Time,
    ids::PlanId,
    memories::MemoryValue,
    names::Name,
    plans::{Plan, PlanStatus, Schedule},
    schedules::When,
    schemas,
};

/// A change of a plan, or a new plan. Fields that are left out do not change. A new plan needs a
/// name, an instruction and exactly one of `runAfter`, `scheduledAt` and `cron`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanChange {
    /// The plan's name, 1 to 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = name)]
    pub name: Option<String>,
    /// What the agent is to do, 1 to 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = instruction)]
    pub instruction: Option<String>,
    /// Once, after this duration: "30 seconds", "2 hours", "1 day", "1 week"; at most 10 years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[1-9][0-9]{0,7} (second|minute|hour|day|week)s?$")]
    pub run_after: Option<String>,
    /// Once, at this time in the future: RFC 3339, or without an offset if `timezone` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_at: Option<String>,
    /// Repeatedly, by the five fields of cron, at most 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub cron: Option<String>,
    /// The IANA time zone of `cron` (default UTC), or of a `scheduledAt` without an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Whether the plan fires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanStatus>,
}

fn name() -> Object {
    schemas::or_null(Name::described("The plan's name, 1 to 128 characters."))
}

fn instruction() -> Object {
    schemas::or_null(MemoryValue::described("What the agent is to do, 1 to 4,000 characters."))
}

impl PlanChange {
    /// The plan `id` after this change. `before` is the plan before it, `None` for a new plan.
    /// Faults get `pointer` in front of their pointers.
    pub fn apply(self, id: PlanId, before: Option<Plan>, now: Time, pointer: &str) -> Result<Plan> {
        self.check(pointer)?;
        let when = self.when(before.as_ref());
        let is_set = when.is_given() || before.is_none();
        let set = if is_set { Some(when.read(now, pointer)?) } else { None };
        let mut plan = match (before, set) {
            (Some(before), None) => before,
            (Some(before), Some((schedule, next))) => {
                Plan { schedule, next_run_at: Some(next), ..before }
            }
            (None, set) => {
                let required = |field: &str| {
                    let pointer = format!("{pointer}/{field}");
                    Error::invalid(pointer, format!("required for a new plan: its {field}"))
                };
                let name = self.name.clone().ok_or_else(|| required("name"))?;
                let instruction =
                    self.instruction.clone().ok_or_else(|| required("instruction"))?;
                let (schedule, next) = set.ok_or_else(|| required("time"))?;
                Plan {
                    id,
                    name,
                    instruction,
                    schedule,
                    status: PlanStatus::Active,
                    next_run_at: Some(next),
                    last_run_at: None,
                    managed_by: None,
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
            // Times that pass while the plan is paused are not missed.
            plan.next_run_at = match plan.status {
                PlanStatus::Paused => None,
                PlanStatus::Active => plan.next_run_at.or_else(|| cron.next(now)),
            };
        }
        Ok(plan)
    }

    fn check(&self, pointer: &str) -> Result<()> {
        if let Some(name) = &self.name {
            Name::check(name).map_err(|error| error.at(format!("{pointer}/name")))?;
        }
        if let Some(instruction) = &self.instruction {
            MemoryValue::check(instruction)
                .map_err(|error| error.at(format!("{pointer}/instruction")))?;
        }
        Ok(())
    }

    /// When the plan is to fire. New cron fields alone keep the time zone, and a new time zone
    /// alone keeps the cron fields.
    fn when(&self, before: Option<&Plan>) -> When {
        let Self { run_after, scheduled_at, mut cron, mut timezone, .. } = self.clone();
        if let Some(Schedule::Cron { cron: fields, timezone: zone }) =
            before.map(|plan| &plan.schedule)
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
    fn a_change_keeps_the_fields_it_does_not_name() {
        let new = r#"{
            "name": "Report",
            "instruction": "Post it",
            "cron": "0 9 * * *",
            "timezone": "Europe/Berlin"
        }"#;
        let made = applied(new, None).unwrap();
        let tomorrow_at_8 = NOON + Duration::from_hours(20);
        assert_eq!(made.next_run_at, Some(tomorrow_at_8));
        let days = [0, 1, 2].map(|day| tomorrow_at_8 + Duration::from_hours(24 * day));
        assert_eq!(made.next_runs(3), days);
        let paused =
            applied(r#"{"status": "paused", "name": "Daily"}"#, Some(made.clone())).unwrap();
        assert_eq!(
            paused,
            Plan {
                name: "Daily".into(),
                status: PlanStatus::Paused,
                next_run_at: None,
                ..made.clone()
            }
        );
        assert_eq!(paused.next_runs(3), []);
        let active = applied(r#"{"status": "active", "name": "Report"}"#, Some(paused)).unwrap();
        assert_eq!(active, made);
        let utc = applied(r#"{"timezone": "UTC"}"#, Some(made.clone())).unwrap();
        assert_eq!(utc.next_run_at, Some(tomorrow_at_8 + Duration::from_hours(1)));
        let later = applied(r#"{"cron": "0 10 * * *"}"#, Some(made.clone())).unwrap();
        assert_eq!(
            later.schedule,
            Schedule::Cron { cron: "0 10 * * *".into(), timezone: "Europe/Berlin".into() }
        );
        let once = applied(r#"{"runAfter": "2 hours"}"#, Some(made)).unwrap();
        assert_eq!(once.next_runs(3), [NOON + Duration::from_hours(2)]);
        assert_eq!(once.schedule, Schedule::Once { run_after: Some("2 hours".into()) });
        assert_eq!(once.next_run_at, Some(NOON + Duration::from_hours(2)));
        let waits = applied(r#"{"status": "paused"}"#, Some(once.clone())).unwrap();
        assert_eq!(waits, Plan { status: PlanStatus::Paused, ..once });
    }

    #[test]
    fn faults_point_to_the_wrong_field() {
        let wrong = |json: &str| match applied(json, None) {
            Err(Error::Invalid(faults)) => faults[0].pointer.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(wrong(r#"{"instruction": "i", "runAfter": "1 day"}"#), "/plans/0/name");
        assert_eq!(
            wrong(r#"{"name": " ", "instruction": "i", "runAfter": "1 day"}"#),
            "/plans/0/name"
        );
        assert_eq!(wrong(r#"{"name": "n", "runAfter": "1 day"}"#), "/plans/0/instruction");
        assert_eq!(
            wrong(r#"{"name": "n", "instruction": "", "runAfter": "1 day"}"#),
            "/plans/0/instruction"
        );
        assert!(wrong(r#"{"name": "n", "instruction": "i"}"#).starts_with("/plans/0"));
    }
}
