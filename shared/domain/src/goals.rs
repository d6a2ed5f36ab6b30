//! Goals: what an agent works towards over many runs.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{ToSchema, openapi::schema::Object};

use crate::{
    Error, Result, Time,
    ids::CallId,
    memories::{MemoryKey, MemoryValue},
    schemas,
};

/// A goal of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    /// The goal's id, 1 to 128 characters. Its author chooses it.
    pub id: String,
    /// What is to be achieved, 1 to 4,000 characters.
    pub description: String,
    /// The goal's status.
    pub status: GoalStatus,
    /// 1 (most urgent) to 5.
    pub priority: u8,
    /// Whether the goal is a long-term goal.
    pub long_term: bool,
    /// When the goal should be achieved.
    #[schema(required)]
    pub due_at: Option<Time>,
    /// When the goal was first set.
    pub created_at: Time,
    /// When the goal was last changed.
    pub updated_at: Time,
}

impl Goal {
    /// The id of the `index`-th goal of a tool call, if the call names none. It is short, and the
    /// same whenever the call is repeated.
    pub fn id_of(call: CallId, index: usize) -> String {
        let call = call.to_string();
        let end = call.len().saturating_sub(8);
        format!("goal-{}-{index}", call[end..].to_lowercase())
    }
}

/// The status of a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GoalStatus {
    /// The agent works towards it.
    #[default]
    Active,
    /// It was achieved.
    Completed,
    /// It was given up.
    Abandoned,
}

/// A change of a goal, or a new goal. Fields that are left out do not change, and get their
/// defaults in a new goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GoalChange {
    /// What is to be achieved. Required for a new goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = description)]
    pub description: Option<String>,
    /// The goal's status. The default of a new goal is `active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GoalStatus>,
    /// 1 (most urgent) to 5. The default of a new goal is 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 5)]
    pub priority: Option<u8>,
    /// Whether the goal is a long-term goal. The default of a new goal is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_term: Option<bool>,
    /// When the goal should be achieved; null removes the date.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>)]
    pub due_at: Option<Option<Time>>,
}

fn description() -> Object {
    schemas::or_null(MemoryValue::described("What is to be achieved. Required for a new goal."))
}

/// Reads a field that is present, so that null differs from a field that is left out.
#[expect(clippy::option_option, reason = "an absent field, null and a time are three cases")]
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Time>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The default priority of a new goal.
const PRIORITY: u8 = 3;

impl GoalChange {
    /// The goal `id` after this change. `before` is the goal before it, `None` for a new goal.
    /// Faults get `pointer` in front of their pointers.
    pub fn apply(self, id: &str, before: Option<Goal>, now: Time, pointer: &str) -> Result<Goal> {
        MemoryKey::check(id).map_err(|error| error.at(format!("{pointer}/id")))?;
        if let Some(description) = &self.description {
            MemoryValue::check(description)
                .map_err(|error| error.at(format!("{pointer}/description")))?;
        }
        if let Some(priority) = self.priority.filter(|priority| !(1..=5).contains(priority)) {
            return Err(Error::invalid(
                format!("{pointer}/priority"),
                format!("expected 1 to 5, got {priority}"),
            ));
        }
        let before = match (before, &self.description) {
            (Some(before), _) => before,
            (None, Some(description)) => Goal {
                id: id.to_owned(),
                description: description.clone(),
                status: GoalStatus::Active,
                priority: PRIORITY,
                long_term: false,
                due_at: None,
                created_at: now,
                updated_at: now,
            },
            (None, None) => {
                let text = format!("expected a description: there is no goal {id:?} yet");
                return Err(Error::invalid(format!("{pointer}/description"), text));
            }
        };
        Ok(Goal {
            description: self.description.unwrap_or(before.description),
            status: self.status.unwrap_or(before.status),
            priority: self.priority.unwrap_or(before.priority),
            long_term: self.long_term.unwrap_or(before.long_term),
            due_at: self.due_at.unwrap_or(before.due_at),
            updated_at: now,
            ..before
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RunId;

    #[test]
    fn generated_goal_ids_are_short_and_repeatable() {
        let run = RunId::new(Time::from_millis(1), 7);
        let [first, second] = [0, 1].map(|index| CallId::of(run, 0, index));
        let ids = [Goal::id_of(first, 0), Goal::id_of(first, 1), Goal::id_of(second, 0)];
        assert!(
            ids[0].starts_with("goal-") && ids[0].ends_with("-0") && ids[0].len() == 15,
            "{ids:?}"
        );
        assert_eq!(ids[0], Goal::id_of(first, 0));
        assert!(ids[0] != ids[1] && ids[0] != ids[2], "{ids:?}");
    }

    #[test]
    fn a_change_keeps_the_fields_it_does_not_name() {
        let at = Time::from_millis;
        let made = GoalChange {
            description: Some("Report".into()),
            priority: Some(2),
            ..GoalChange::default()
        };
        let made = made.apply("q4", None, at(1), "").unwrap();
        let done = GoalChange { status: Some(GoalStatus::Completed), ..GoalChange::default() };
        let done = done.apply("q4", Some(made.clone()), at(2), "").unwrap();
        assert_eq!(done, Goal { status: GoalStatus::Completed, updated_at: at(2), ..made });
        let due: GoalChange = serde_json::from_str(r#"{"dueAt": "1970-01-01T00:00:01Z"}"#).unwrap();
        let due = due.apply("q4", Some(done.clone()), at(2), "").unwrap();
        assert_eq!(due.due_at, Some(at(1_000)));
        let never: GoalChange = serde_json::from_str(r#"{"dueAt": null}"#).unwrap();
        assert_eq!(never.apply("q4", Some(due), at(2), "").unwrap(), done);
        let wrong = |change: GoalChange, id: &str| {
            change.apply(id, None, at(1), "/goals/0").unwrap_err().to_string()
        };
        assert_eq!(
            wrong(GoalChange::default(), "x"),
            "/goals/0/description: expected a description: there is no goal \"x\" yet"
        );
        let hot = GoalChange {
            description: Some("d".into()),
            priority: Some(6),
            ..GoalChange::default()
        };
        assert_eq!(wrong(hot.clone(), "x"), "/goals/0/priority: expected 1 to 5, got 6");
        assert_eq!(wrong(hot, ""), "/goals/0/id: expected 1 to 128 characters without NUL, got 0");
    }
}
