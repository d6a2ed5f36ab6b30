//! Writes who decides a call, and what they have decided.

use serde_json::Value;
use smartspace_domain::{
    approvals::{Approval, ApprovalState, ApproverGroup, Approvers, DecisionAction, MadeDecision},
    steps::CallStatus,
};
use smartspace_store::messages::ToolCard;

use crate::prompt::{
    format::{CardJson, Excerpt},
    names::{Names, decider},
};

/// The longest reason that is written, in characters.
const MAX_REASON_CHARS: usize = 200;

/// Writes who made a decision: `Olga`, or `Olga (by the operator)`. No name has such brackets.
pub(crate) fn write_decider(names: &Names, decision: &MadeDecision) -> String {
    let name = names.of(&decider(decision));
    if decision.by_operator { format!("{name} (by the operator)") } else { name }
}

/// Writes which people decide: `owners`, or `2 owners` if a rule wants so many.
pub(crate) fn write_approvers(by: &Approvers, needed: u32) -> String {
    let group = match by {
        Approvers::Group(ApproverGroup::Members) => "members",
        Approvers::Group(ApproverGroup::Owners) => "owners",
        Approvers::Entities(_) => "people whom the rule names",
    };
    if needed > 1 { format!("{needed} {group}") } else { group.to_owned() }
}

/// Writes how far the call of a card is that people decide, and its output: `(waits for approval by
/// owners)`, `output={"paid":true} (approved by Olga, Max)`.
pub(crate) fn write_state(names: &Names, card: &ToolCard, approval: &Approval) -> String {
    let by = |decision| write_decider(names, decision);
    let approved = || approval.decisions.iter().map(by).collect::<Vec<_>>().join(", ");
    let last = approval.decisions.last();
    let text = match (approval.state, card.status) {
        (ApprovalState::Open, CallStatus::Pending) => {
            let people = write_approvers(&approval.by, approval.needed);
            if approval.decisions.is_empty() {
                format!("waits for approval by {people}")
            } else {
                format!("waits for approval by {people}; approved by {}", approved())
            }
        }
        (ApprovalState::Approved, CallStatus::Pending | CallStatus::Completed) => {
            format!("approved by {}", approved())
        }
        (ApprovalState::Approved, status) => {
            format!("{}; approved by {}", status.as_str(), approved())
        }
        (ApprovalState::Declined, _) if let Some(last) = last => {
            return declined(card, last, &by(last));
        }
        _ => card.status.as_str().to_owned(),
    };
    with_output(card, &text)
}

fn declined(card: &ToolCard, last: &MadeDecision, by: &str) -> String {
    match last.action {
        DecisionAction::Respond => with_output(card, &format!("answered by {by}")),
        DecisionAction::End => format!("(declined by {by}, and the run ended)"),
        _ => match reason(card) {
            Some(reason) => format!("(declined by {by}: {})", Excerpt(&reason, MAX_REASON_CHARS)),
            None => format!("(declined by {by})"),
        },
    }
}

fn with_output(card: &ToolCard, text: &str) -> String {
    match &card.output {
        Some(output) => format!("output={} ({text})", CardJson(output)),
        None => format!("({text})"),
    }
}

/// The reason of a person who declined a call.
fn reason(card: &ToolCard) -> Option<String> {
    let output: Value = serde_json::from_str(&card.output.as_ref()?.text).ok()?;
    output["reason"].as_str().map(str::to_owned)
}
