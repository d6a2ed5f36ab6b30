//! What the rules of an agent say about a call.

use serde_json::{Value, json};

use super::{ApprovalRule, RuleAction};
use crate::ids::{EntityId, SpaceId};

/// The names that a `when` may use.
pub(super) const VARIABLES: [&str; 4] = ["input", "tool", "agent", "space"];

/// The largest input that a `when` reads, in bytes of JSON. It bounds the time of an evaluation.
const INPUT_BYTES: usize = 64 * 1024;

/// The tool that no rule can name: a call of it does nothing, and ends the run.
pub(super) const NEVER_NAMED: &str = "skip_response";

/// A call, as rules see it.
#[derive(Clone, Copy, Debug)]
pub struct CheckedCall<'a> {
    /// The name of the tool, as the model sees it.
    pub tool: &'a str,
    /// The input.
    pub input: &'a Value,
    /// The agent that makes the call.
    pub agent: Named<'a, EntityId>,
    /// The active space, if the run has one.
    pub space: Option<Named<'a, SpaceId>>,
}

/// An id and the name that belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a, Id> {
    /// The id.
    pub id: Id,
    /// The name.
    pub name: &'a str,
}

/// What the rules say about a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict<'a> {
    /// The call is made.
    Make,
    /// The call is refused by this rule, whose place in the list counts from 0.
    Deny(&'a ApprovalRule, usize),
    /// People decide by this rule, unless an allowance fits.
    Ask(&'a ApprovalRule, usize),
}

/// What the rules say about a call: a rule that denies it wins wherever it stands, else the first
/// one that asks.
pub fn verdict<'a>(rules: &'a [ApprovalRule], call: &CheckedCall<'_>) -> Verdict<'a> {
    let mut facts = None;
    let mut first = |action| {
        rules.iter().enumerate().find(|(_, rule)| {
            rule.action == action
                && rule.covers(call.tool)
                && rule.when.as_deref().is_none_or(|when| {
                    // An error counts as true.
                    facts.get_or_insert_with(|| Facts::of(call)).holds(when).unwrap_or(true)
                })
        })
    };
    if let Some((index, rule)) = first(RuleAction::Deny) {
        Verdict::Deny(rule, index)
    } else if let Some((index, rule)) = first(RuleAction::Ask) {
        Verdict::Ask(rule, index)
    } else {
        Verdict::Make
    }
}

/// Whether a rule names the tool. Calls of all other tools are made without looking at them.
pub fn names(rules: &[ApprovalRule], tool: &str) -> bool {
    rules.iter().any(|rule| rule.covers(tool))
}

/// Whether people may have to decide calls of the tool.
pub fn may_ask(rules: &[ApprovalRule], tool: &str) -> bool {
    rules.iter().any(|rule| rule.action == RuleAction::Ask && rule.covers(tool))
}

impl ApprovalRule {
    /// Whether the rule names the tool.
    pub fn covers(&self, tool: &str) -> bool {
        tool != NEVER_NAMED && self.tools.iter().any(|pattern| matches(pattern, tool))
    }
}

/// Whether `name` is the pattern with some text in place of each `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        // The first place is the best one: it leaves the most for the parts that follow.
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// The values that a `when` reads.
pub(super) struct Facts<'a> {
    input: Option<&'a Value>,
    others: [Value; 3],
}

impl<'a> Facts<'a> {
    pub(super) fn of(call: &CheckedCall<'a>) -> Self {
        let agent = json!({"id": call.agent.id, "name": call.agent.name});
        let space = call.space.map(|space| json!({"id": space.id, "name": space.name}));
        Self {
            input: Some(call.input).filter(|input| input.to_string().len() <= INPUT_BYTES),
            others: [call.tool.into(), agent, space.unwrap_or_default()],
        }
    }

    /// Whether the expression is true. `None` is an error.
    pub(super) fn holds(&self, when: &str) -> Option<bool> {
        let [tool, agent, space] = &self.others;
        let values = [self.input?, tool, agent, space];
        let mut variables = VARIABLES.map(|name| (name, &Value::Null));
        for ((_, of), value) in variables.iter_mut().zip(values) {
            *of = value;
        }
        smartspace_cel::evaluate(when, &variables).ok()?.as_bool()
    }
}
