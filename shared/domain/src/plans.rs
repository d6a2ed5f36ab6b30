//! Plans: what an agent is to do later, once or repeatedly. [`crate::schedules`] says when.

mod change;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::change::PlanChange;
pub use crate::schedules::Schedule;
use crate::{Error, Result, Time, ids::PlanId, schedules::Cron};

/// A plan of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
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

impl Plan {
    /// Whether the plan fires repeatedly.
    pub fn repeats(&self) -> bool {
        matches!(self.schedule, Schedule::Cron { .. })
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
