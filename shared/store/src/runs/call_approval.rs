//! The decisions of people on a call, as they are stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    approvals::{
        Approval, ApprovalCount, ApprovalRule, ApprovalState, Decision, DecisionAction,
        MadeDecision,
    },
    ids::LeaseId,
    steps::CallStatus,
};

use crate::{
    Result,
    table::{json_text, write::Write},
};

/// What people need to decide a call, as its form stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormApproval {
    /// The rule that stopped the call.
    #[serde(deserialize_with = "ApprovalRule::read_stored")]
    pub rule: ApprovalRule,
    /// The JSON Schema of the call's input.
    #[serde(with = "json_text")]
    pub input_schema: Value,
}

/// The decisions of people on a call, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallApproval {
    /// The rule that stopped the call. It stays if the agent's rules change.
    #[serde(deserialize_with = "ApprovalRule::read_stored")]
    pub rule: ApprovalRule,
    pub state: ApprovalState,
    /// What the tool was when people were asked. They have not approved a call of another one.
    pub tool_fingerprint: String,
    /// The decisions that count, in their order. An edit ends those before it.
    pub decisions: Vec<MadeDecision>,
    /// The input of the last edit.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "json_text::optional")]
    pub input: Option<Value>,
    /// How often people have edited the input.
    #[serde(default)]
    pub input_revision: u32,
    /// How often it has changed. A decision counts only if no other one was stored since it read
    /// this.
    pub revision: u32,
    /// The token of the request with the last decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<LeaseId>,
}

impl CallApproval {
    /// The approval of a call that nobody has decided yet.
    pub fn open(rule: ApprovalRule, tool_fingerprint: String) -> Self {
        Self {
            rule,
            state: ApprovalState::Open,
            tool_fingerprint,
            decisions: Vec::new(),
            input: None,
            input_revision: 0,
            revision: 0,
            token: None,
        }
    }

    /// The approvals, as the card of the call shows them.
    pub fn shown(&self) -> Approval {
        Approval {
            state: self.state,
            input_revision: self.input_revision,
            decisions: self.decisions.clone(),
            ..Approval::open(&self.rule)
        }
    }

    /// How many people have approved.
    pub fn count(&self) -> ApprovalCount {
        ApprovalCount::of(&self.rule, &self.decisions)
    }

    /// The approval after one more decision. `token` is made before the first try, and detects a
    /// lost answer.
    #[must_use]
    pub fn after(&self, decision: &Decision, made: MadeDecision, token: &LeaseId) -> Self {
        let is_edit = decision.action == DecisionAction::Edit;
        // Nobody has approved the new input yet.
        let before: &[MadeDecision] = if is_edit { &[] } else { &self.decisions };
        let decisions: Vec<_> = before.iter().cloned().chain([made]).collect();
        let state = if !decision.action.approves() {
            ApprovalState::Declined
        } else if ApprovalCount::of(&self.rule, &decisions).is_reached() {
            ApprovalState::Approved
        } else {
            ApprovalState::Open
        };
        Self {
            rule: self.rule.clone(),
            state,
            tool_fingerprint: self.tool_fingerprint.clone(),
            decisions,
            input_revision: self.input_revision + u32::from(is_edit),
            input: if is_edit { decision.input.clone() } else { self.input.clone() },
            revision: self.revision + 1,
            token: Some(token.clone()),
        }
    }

    /// The approval of a call that nobody has decided in time.
    #[must_use]
    pub fn expired(&self) -> Self {
        let state = ApprovalState::Expired;
        Self { state, revision: self.revision + 1, token: None, ..self.clone() }
    }

    /// Adds the condition that the call waits, with the approval before this one, to a write of the
    /// call with `#approval = :approval` in its expression.
    pub(crate) fn replaces(&self, write: Write) -> Result<Write> {
        write
            .when("#status = :pending AND #approval.#state = :open AND #approval.#revision = :seen")
            .value(":pending", CallStatus::Pending)?
            .value(":open", ApprovalState::Open)?
            .value(":seen", self.revision - 1)?
            .value(":approval", self)
    }
}
