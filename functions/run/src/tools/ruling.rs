//! What the rules of an agent say about a call.

use serde_json::Value;
use smartspace_domain::{approvals::ApprovalRule, ids::SpaceId};

/// What the agent's rules say about a call.
pub(crate) enum Ruling {
    /// It is made. Most calls have no rule.
    Make,
    /// A rule forbids it. The text is an error for the model.
    Deny(String),
    /// People decide.
    Ask(Box<Asked>),
}

/// A call that people decide.
pub(crate) struct Asked {
    pub(crate) rule: ApprovalRule,
    /// What the tool is now.
    pub(crate) tool_fingerprint: String,
    /// The space that shows the card.
    pub(crate) space: Option<SpaceId>,
    /// The input, as the card shows it.
    pub(crate) input: Value,
    /// The schema of another input.
    pub(crate) input_schema: Value,
    /// People have declined the same call in this run.
    pub(crate) was_declined: bool,
}

/// What the model reads about a call that a rule forbids. `index` counts from 0.
pub(crate) fn forbidden(tool: &str, rule: &ApprovalRule, index: usize) -> String {
    let patterns = rule.tools.join(", ");
    format!("a rule of this agent forbids {tool}: rule {} ({patterns})", index + 1)
}

/// What the model reads about a call that people have approved, of a tool that was changed since.
pub(crate) fn changed(tool: &str) -> String {
    format!(
        "{tool} was changed after people were asked about this call, so it was not made; call it \
         again to ask them again"
    )
}
