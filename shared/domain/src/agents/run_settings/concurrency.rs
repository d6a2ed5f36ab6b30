//! How many runs of an agent work at the same time.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How many runs of an agent work at the same time. A run that waits for people does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
pub struct ConcurrencyConfig {
    /// The largest number of runs that work at the same time, over all spaces. More runs wait, the
    /// oldest first.
    #[schema(minimum = 1, maximum = 100)]
    pub max_runs: u32,
    /// What a message does while a run that the same space triggered is queued or works. Plans and
    /// services always start their own run.
    pub mode: ConcurrencyMode,
}

impl Default for ConcurrencyConfig {
    fn default() -> Self {
        Self { max_runs: 5, mode: ConcurrencyMode::Coalesce }
    }
}

/// What a message does while a run that the same space triggered is queued or works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConcurrencyMode {
    /// It starts its own run at once.
    Parallel,
    /// It starts its own run when the runs before it are done.
    Queue,
    /// It joins the queued run, which then answers all of its messages. If none is queued, it
    /// queues one.
    Coalesce,
    /// It cancels the queued and working runs and starts its own. What they posted stays.
    Latest,
}
