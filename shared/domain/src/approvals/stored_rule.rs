//! Reading stored rules, which a later version may have written.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{ApprovalRule, ApproverGroup, Approvers, OnExpire, RuleAction, a_day};

impl ApprovalRule {
    /// Reads a stored rule. One with a field or a value that this version does not know might want
    /// more than is known of it, so it refuses all calls of its tools.
    pub fn read_stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::of_stored)
    }

    /// Reads a stored list of rules like [`Self::read_stored`]. Something else than a list refuses
    /// all calls.
    pub(crate) fn read_all_stored(rules: Value) -> Vec<Self> {
        match rules {
            Value::Null => Vec::new(),
            Value::Array(rules) => rules.into_iter().map(Self::of_stored).collect(),
            other => vec![Self::of_stored(other)],
        }
    }

    fn of_stored(rule: Value) -> Self {
        if let Ok(known) = Self::deserialize(&rule)
            && !known.tools.is_empty()
        {
            return known;
        }
        let tools = Vec::deserialize(&rule["tools"]).ok().filter(|tools| !tools.is_empty());
        Self {
            tools: tools.unwrap_or_else(|| vec!["*".into()]),
            action: RuleAction::Deny,
            when: None,
            by: Approvers::Group(ApproverGroup::Owners),
            quorum: 1,
            expires_after: a_day(),
            on_expire: OnExpire::Decline,
        }
    }
}
