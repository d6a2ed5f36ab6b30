//! What an owner may set in a space. All that decides what the operator pays for beyond this is the
//! operator's, and no owner may set more than the operator has set for the space.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{RouterConfig, SpaceSettings, default_auto_replies};
use crate::{Error, Result, agents::default_chain_depth, budgets::Budget};

/// The longest instructions of a router that an owner can write, in characters.
pub const INSTRUCTIONS_CHARS: usize = 2_000;

/// The limits that the operator has set for a space. An owner can lower the settings and raise them
/// again, up to these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_chain_depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_auto_replies: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_per_minute: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_per_day: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_per_day: Option<f64>,
}

impl OperatorLimits {
    /// Whether the operator has set nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The limits after a request of the operator: each setting that `written` names has the value
    /// of `settings` now, and null takes a limit back.
    #[must_use]
    pub fn after(self, written: &Map<String, Value>, settings: &SpaceSettings) -> Self {
        let budget = written.get("budget");
        // A budget of null resets all of its numbers.
        let named = |name: &str| match budget {
            Some(Value::Object(budget)) => budget.get(name),
            other => other,
        };
        let is_set = |value: Option<&Value>| value.map(|value| !value.is_null());
        let Budget { tokens_per_day, cost_per_day, runs_per_minute } = settings.budget;
        let chain = is_set(written.get("maxChainDepth"));
        let replies = is_set(written.get("maxAutoReplies"));
        let runs = is_set(named("runsPerMinute"));
        Self {
            max_chain_depth: chain
                .map_or(self.max_chain_depth, |is_set| is_set.then_some(settings.max_chain_depth)),
            max_auto_replies: replies.map_or(self.max_auto_replies, |is_set| {
                is_set.then_some(settings.max_auto_replies)
            }),
            runs_per_minute: runs
                .map_or(self.runs_per_minute, |is_set| is_set.then_some(runs_per_minute)),
            tokens_per_day: named("tokensPerDay").map_or(self.tokens_per_day, |_| tokens_per_day),
            cost_per_day: named("costPerDay").map_or(self.cost_per_day, |_| cost_per_day),
        }
    }

    /// Refuses settings of a space that an owner can't set. `before` are those of a space that
    /// changes: an owner may leave them as they are, and lower them.
    ///
    /// # Errors
    /// `forbidden`, with the name of the setting.
    pub fn check_owner(&self, before: Option<&SpaceSettings>, after: &SpaceSettings) -> Result<()> {
        check_router(before.and_then(|it| it.router.as_ref()), after.router.as_ref())?;
        at_most(
            "maxChainDepth",
            before.map(|it| it.max_chain_depth),
            after.max_chain_depth,
            default_chain_depth().min(self.max_chain_depth.unwrap_or(u32::MAX)),
        )?;
        at_most(
            "maxAutoReplies",
            before.map(|it| it.max_auto_replies),
            after.max_auto_replies,
            default_auto_replies().min(self.max_auto_replies.unwrap_or(u32::MAX)),
        )?;
        let old = before.map(|it| &it.budget);
        let new = &after.budget;
        at_most(
            "budget.runsPerMinute",
            old.map(|old| old.runs_per_minute),
            new.runs_per_minute,
            Budget::of_space().runs_per_minute.min(self.runs_per_minute.unwrap_or(u32::MAX)),
        )?;
        let tokens = |budget: &Budget| budget.tokens_per_day.unwrap_or(u64::MAX);
        let most = self.tokens_per_day.unwrap_or(u64::MAX);
        at_most("budget.tokensPerDay", old.map(tokens), tokens(new), most)?;
        let cost = |budget: &Budget| budget.cost_per_day.unwrap_or(f64::INFINITY);
        let most = self.cost_per_day.unwrap_or(f64::INFINITY);
        at_most("budget.costPerDay", old.map(cost), cost(new), most)
    }
}

/// Refuses another model than before, and long instructions.
fn check_router(before: Option<&RouterConfig>, after: Option<&RouterConfig>) -> Result<()> {
    let [model_before, model] = [before, after].map(|it| it.and_then(|it| it.model.as_ref()));
    if model_before != model {
        return Err(Error::Forbidden(
            "router.model: only the operator can choose, change or remove the model of a router"
                .into(),
        ));
    }
    let [words_before, words] =
        [before, after].map(|router| router.and_then(|it| it.instructions.as_deref()));
    let length = words.map_or(0, |text| text.chars().count());
    if length > INSTRUCTIONS_CHARS && words_before != words {
        return Err(Error::Forbidden(format!(
            "router.instructions: only the operator can write more than {INSTRUCTIONS_CHARS} \
             characters, got {length}"
        )));
    }
    Ok(())
}

/// Refuses a number above `most`, unless it is not above the one before.
fn at_most<T: PartialOrd + Copy + std::fmt::Display>(
    name: &str,
    before: Option<T>,
    after: T,
    most: T,
) -> Result<()> {
    if after <= most || before.is_some_and(|before| after <= before) {
        return Ok(());
    }
    Err(Error::Forbidden(format!("{name}: only the operator can set more than {most} here")))
}
