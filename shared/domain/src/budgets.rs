//! Budgets: what agents, spaces and the deployment may spend in a day.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::{
    days::Day,
    errors::Faults,
    ids::{EntityId, SpaceId},
    usage::{Usage, billionths},
};

/// Limits for runs and costs. A day begins at midnight UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Budget {
    /// Tokens per day, read and written. Null is no limit.
    #[schema(maximum = 1_000_000_000_000_000_i64)]
    pub tokens_per_day: Option<u64>,
    /// Dollars per day. Null is no limit.
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

fn runs_of_space() -> u32 {
    120
}

/// The budget of a space as it is written. A missing number has the default of a space.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BudgetOfSpace {
    #[serde(default)]
    tokens_per_day: Option<u64>,
    #[serde(default)]
    cost_per_day: Option<f64>,
    #[serde(default = "runs_of_space")]
    runs_per_minute: u32,
}

/// Reads the budget of a space, whose default for a missing number differs from an agent's.
pub(crate) fn read_of_space<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Budget, D::Error> {
    let BudgetOfSpace { tokens_per_day, cost_per_day, runs_per_minute } =
        BudgetOfSpace::deserialize(deserializer)?;
    Ok(Budget { tokens_per_day, cost_per_day, runs_per_minute })
}

/// Dollars that a budget may have. DynamoDB cannot store every number: not one that is too large or
/// too small.
fn is_budget(dollars: f64) -> bool {
    dollars == 0.0 || (1e-9..=1e9).contains(&dollars)
}

const DOLLARS: &str = "expected dollars, 0 or 0.000000001 to 1000000000";

/// What all model calls of a day may cost in a deployment that does not say otherwise.
pub const DEFAULT_COST_PER_DAY: &str = "20";

impl Budget {
    /// The default of an agent.
    pub fn of_agent() -> Self {
        Self { tokens_per_day: None, cost_per_day: None, runs_per_minute: 60 }
    }

    /// The default of a space.
    pub fn of_space() -> Self {
        Self { runs_per_minute: runs_of_space(), ..Self::of_agent() }
    }

    /// Adds a fault for each number out of range.
    pub fn check(&self, faults: &mut Faults) {
        faults.check_range(&self.runs_per_minute, 1..=100_000, "runsPerMinute");
        if let Some(tokens) = self.tokens_per_day {
            faults.check_range(&tokens, 0..=1_000_000_000_000_000, "tokensPerDay");
        }
        if let Some(cost) = self.cost_per_day {
            faults.check(is_budget(cost), "costPerDay", format!("{DOLLARS}, got {cost}"));
        }
    }

    /// What may be spent in a day.
    pub fn per_day(&self) -> DailyLimit {
        DailyLimit { tokens: self.tokens_per_day, nanodollars: self.cost_per_day.map(billionths) }
    }
}

/// An amount that was spent, or may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Tokens, read and written.
    pub tokens: u64,
    /// Billionths of a dollar. Whole numbers, so that sums are exact.
    pub nanodollars: u64,
}

impl Amount {
    /// What a model call has used. A call without a cost is free.
    pub fn of(usage: &Usage) -> Self {
        let usage = usage.believable();
        Self {
            tokens: usage.input_tokens + usage.output_tokens,
            nanodollars: usage.cost.map_or(0, billionths),
        }
    }

    /// This amount minus `other`, at least zero.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            nanodollars: self.nanodollars.saturating_sub(other.nanodollars),
        }
    }
}

/// What may be spent in a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyLimit {
    /// Tokens. `None` is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Billionths of a dollar. `None` is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nanodollars: Option<u64>,
}

impl DailyLimit {
    /// Reads the ceiling of a deployment in dollars. An empty text is the default, and only `none`
    /// is no limit.
    pub fn read_ceiling(text: &str) -> Result<Self, String> {
        let text = if text.is_empty() { DEFAULT_COST_PER_DAY } else { text };
        if text == "none" {
            return Ok(Self::default());
        }
        let dollars = text.parse().ok().filter(|dollars| is_budget(*dollars));
        let dollars = dollars.ok_or_else(|| format!("{DOLLARS}, or none, got {text:?}"))?;
        Ok(Self { nanodollars: Some(billionths(dollars)), tokens: None })
    }

    /// The same limit for models that cost nothing.
    #[must_use]
    pub fn without_dollars(self) -> Self {
        Self { nanodollars: None, ..self }
    }

    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `more` may be spent after `spent`.
    pub fn has_room(&self, spent: Amount, more: Amount) -> bool {
        let fits = |limit: Option<u64>, spent: u64, more: u64| {
            limit.is_none_or(|limit| spent.saturating_add(more) <= limit)
        };
        fits(self.tokens, spent.tokens, more.tokens)
            && fits(self.nanodollars, spent.nanodollars, more.nanodollars)
    }

    /// How much of the limit is spent, in percent. Of two limits the one that is closer counts.
    pub fn percent(&self, spent: Amount) -> u64 {
        let percent = |limit: Option<u64>, spent: u64| match limit {
            None => 0,
            Some(0) => 100,
            Some(limit) => {
                u64::try_from(u128::from(spent) * 100 / u128::from(limit)).unwrap_or(u64::MAX)
            }
        };
        percent(self.tokens, spent.tokens).max(percent(self.nanodollars, spent.nanodollars))
    }
}

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetScope {
    /// An agent, in all its spaces.
    Agent(EntityId),
    /// A space: the runs that its messages trigger, its summaries and its router.
    Space(SpaceId),
    /// The whole deployment.
    Deployment,
}

impl BudgetScope {
    /// Says that it is used, and until when.
    pub fn used_text(self, day: Day) -> String {
        format!(
            "the budget of {self} for today has no room for another call; calls under way count \
             with the most that they may use; it is renewed at {}",
            day.next().begin().to_whole_seconds()
        )
    }

    /// Says that no day has room for a call.
    pub fn too_small_text(self) -> String {
        format!(
            "this call may use more than the budget of {self} for a whole day; raise the budget, \
             or let the agent write less (maxOutputTokens)"
        )
    }

    /// Says how much of it is used, for the model and for people.
    pub fn percent_text(self, percent: u64) -> String {
        format!(
            "{percent} % of the budget of {self} for today is used. It is renewed at 00:00 UTC."
        )
    }
}

impl std::fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Agent(_) => "this agent",
            Self::Space(_) => "this space",
            Self::Deployment => "the deployment",
        })
    }
}

/// The budget of a scope that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeBudget {
    /// Whose budget it is.
    pub scope: BudgetScope,
    /// What may be spent.
    pub limit: DailyLimit,
}

impl ScopeBudget {
    /// The budget of a scope, if anything is limited.
    pub fn of(scope: BudgetScope, limit: DailyLimit) -> Option<Self> {
        (!limit.is_none()).then_some(Self { scope, limit })
    }

    /// The part of the budget that limits models which cost nothing.
    pub fn without_dollars(self) -> Option<Self> {
        Self::of(self.scope, self.limit.without_dollars())
    }
}

/// What a scope has spent of its budget on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// What was spent, and what calls under way may spend at most.
    pub amount: Amount,
    /// What was spent, without the calls under way.
    pub settled: Amount,
    /// The smallest call that found no room. No call that would not fit an unused budget.
    pub refused: Option<Amount>,
}

impl Spent {
    /// Whether the budget is used. After a call found no room, it is used as long as that call
    /// would find none; until then, as long as nothing at all is left.
    pub fn is_used(&self, limit: DailyLimit) -> bool {
        let least = Amount { tokens: 1, nanodollars: 1 };
        !limit.has_room(self.amount, self.refused.unwrap_or(least))
    }
}
