//! How many runs of an agent work at the same time.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How many runs of an agent may be active at the same time. Accepted, but not implemented.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
pub struct ConcurrencyConfig {
    /// The largest number of active runs.
    #[schema(minimum = 1, maximum = 100)]
    pub max_runs: u32,
    /// What a trigger does while a run is active in its space.
    pub mode: ConcurrencyMode,
}

impl Default for ConcurrencyConfig {
    fn default() -> Self {
        Self { max_runs: 5, mode: ConcurrencyMode::Parallel }
    }
}

/// What a trigger does while a run is active in its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConcurrencyMode {
    /// It starts its own run at once.
    Parallel,
    /// It starts its own run when the active run has ended.
    Queue,
    /// It joins the queued run.
    Coalesce,
    /// It cancels the active run and starts its own.
    Latest,
}
