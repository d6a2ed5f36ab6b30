//! The budget of an agent or a space.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::Faults;

/// Limits for runs and costs. Only `runsPerMinute` has an effect today.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Budget {
    /// Tokens per day. Accepted, but not implemented.
    #[schema(maximum = 1_000_000_000_000_000_i64)]
    pub tokens_per_day: Option<u64>,
    /// Dollars per day. Accepted, but not implemented.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub cost_per_day: Option<f64>,
    /// Runs that may start in one clock minute.
    #[schema(minimum = 1, maximum = 100_000)]
    pub runs_per_minute: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of_agent()
    }
}

impl Budget {
    /// The default of an agent.
    pub fn of_agent() -> Self {
        Self { tokens_per_day: None, cost_per_day: None, runs_per_minute: 60 }
    }

    /// The default of a space.
    pub fn of_space() -> Self {
        Self { runs_per_minute: 120, ..Self::of_agent() }
    }

    /// Adds a fault for each number out of range.
    pub fn check(&self, faults: &mut Faults) {
        faults.check_range(&self.runs_per_minute, 1..=100_000, "runsPerMinute");
        if let Some(tokens) = self.tokens_per_day {
            faults.check_range(&tokens, 0..=1_000_000_000_000_000, "tokensPerDay");
        }
        if let Some(cost) = self.cost_per_day {
            // DynamoDB cannot store every number: not one that is too large or too small.
            let fine = cost == 0.0 || (1e-9..=1e9).contains(&cost);
            faults.check(fine, "costPerDay", "expected dollars, 0 or 0.000000001 to 1000000000");
        }
    }
}
