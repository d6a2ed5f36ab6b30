//! Plans: what an agent is to do later, once or repeatedly. [`crate::schedules`] says when.

mod change;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use self::change::PlanChange;
pub use crate::schedules::Schedule;
use crate::{
    Error, Result, Time, ids::PlanId, managed_by::ManagedBy, schedules::Cron, stored::Tolerant,
};

/// A plan of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Plan {
    /// The plan's id.
    pub id: PlanId,
    /// The plan's name, 1 to 128 characters.
    pub name: String,
    /// What the agent is to do, 1 to 4,000 characters.
    pub instruction: String,
    /// When the plan fires.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// Whether the plan fires.
    pub status: PlanStatus,
    /// When the plan fires next. A paused one-time plan keeps its time; for a paused cron plan this
    /// is null.
    #[schema(required)]
    pub next_run_at: Option<Time>,
    /// When the plan last fired.
    #[schema(required)]
    pub last_run_at: Option<Time>,
    /// The files that manage the plan. Absent if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<ManagedBy>,
    /// When the plan was first set.
    pub created_at: Time,
    /// When the plan was last changed.
    pub updated_at: Time,
}

/// Whether a plan fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanStatus {
    /// The plan fires at its times.
    #[default]
    Active,
    /// The plan does not fire until it is active again.
    Paused,
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// Reads a stored plan. A plan whose schedule this version does not know is read as a paused
/// one-time plan, so it does not fire.
impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut plan = Map::deserialize(deserializer)?;
        if !Schedule::TYPES.iter().any(|known| plan.get("type") == Some(&Value::from(*known))) {
            plan.insert("type".into(), "once".into());
            plan.insert("status".into(), "paused".into());
        }
        Self::deserialize(Tolerant(Value::Object(plan))).map_err(de::Error::custom)
    }
}

impl Plan {
    /// Whether the plan fires repeatedly.
    pub fn repeats(&self) -> bool {
        matches!(self.schedule, Schedule::Cron { .. })
    }

    /// The next times at which the plan fires, at most `most`. Empty if it is paused, or if this
    /// version cannot parse its cron fields.
    pub fn next_runs(&self, most: usize) -> Vec<Time> {
        let first = self.next_run_at.filter(|_| self.status == PlanStatus::Active);
        let cron = self.cron().unwrap_or_default();
        let after = |at: &Time| cron.as_ref().and_then(|cron| cron.next(*at));
        std::iter::successors(first, after).take(most).collect()
    }

    /// The plan's cron fields; `None` for a one-time plan.
    ///
    /// # Errors
    /// If this version cannot parse the fields that another version stored.
    pub fn cron(&self) -> Result<Option<Cron>> {
        let Schedule::Cron { cron, timezone } = &self.schedule else { return Ok(None) };
        let unreadable =
            |error| Error::Internal(format!("cannot parse the plan {}: {error}", self.id));
        Cron::parse(cron, timezone).map(Some).map_err(unreadable)
    }
}
