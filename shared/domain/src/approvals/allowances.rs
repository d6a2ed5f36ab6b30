//! Allowances: remembered approvals.

use super::{
    Allowance, ApprovalRule, Remember, RememberIn,
    checks::check_when,
    verdict::{CheckedCall, Facts},
};
use crate::{
    Error, Result, Time,
    ids::{AllowanceId, EntityId, SpaceId},
};

/// The longest time for which a decision is remembered, in seconds.
const LONGEST: u64 = 365 * 86_400;

/// The answer to an id of no allowance.
pub fn no_such_allowance() -> Error {
    Error::NotFound("there is no such allowance: it may have ended, or was deleted".into())
}

/// A decision that is to be remembered.
#[derive(Clone, Copy, Debug)]
pub struct NewAllowance<'a> {
    /// The id of the allowance.
    pub id: AllowanceId,
    /// The agent that wants to make the call.
    pub agent: EntityId,
    /// The tool, as the model sees it.
    pub tool: &'a str,
    /// The space that shows the card.
    pub space: SpaceId,
    /// The rule that asked.
    pub rule: &'a ApprovalRule,
    /// What is to be remembered.
    pub remember: &'a Remember,
    /// What the tool is.
    pub tool_fingerprint: &'a str,
    /// Who decided.
    pub by: EntityId,
    /// The name of the one who decided.
    pub by_name: &'a str,
    /// Whether the operator decides in the person's name.
    pub by_operator: bool,
}

impl Allowance {
    /// Makes an allowance of an approval.
    ///
    /// # Errors
    /// If this may not be remembered.
    pub fn new(new: &NewAllowance<'_>, now: Time) -> Result<Self> {
        let Remember { place, when, length } = new.remember;
        if new.rule.quorum > 1 {
            let one = "expected none: the rule wants more than one person for each call";
            return Err(Error::invalid("/remember", one));
        }
        if *place == RememberIn::Everywhere && !new.by_operator {
            return Err(Error::Forbidden(
                "only the operator may remember an approval everywhere; remember it in the space"
                    .into(),
            ));
        }
        if let Some(when) = when {
            check_when(when).map_err(|wrong| Error::invalid("/remember/when", wrong))?;
        }
        let length = length.as_ref().map(crate::durations::WrittenDuration::length);
        if length.is_some_and(|length| length.as_secs() > LONGEST) {
            return Err(Error::invalid("/remember/for", "expected at most 365 days"));
        }
        Ok(Self {
            id: new.id,
            agent_id: new.agent,
            tool: new.tool.to_owned(),
            space_id: (*place == RememberIn::Space).then_some(new.space),
            when: when.clone(),
            rule: new.rule.clone(),
            tool_fingerprint: new.tool_fingerprint.to_owned(),
            created_by: new.by,
            created_by_name: new.by_name.to_owned(),
            created_at: now,
            expires_at: length.map(|length| now + length),
        })
    }

    /// Whether it answers `rule`, which asks about a call of a tool with this fingerprint. One that
    /// was made under another rule, in another space or for another tool does not, and an error in
    /// its `when` counts as false.
    pub fn fits(
        &self,
        rule: &ApprovalRule,
        call: &CheckedCall<'_>,
        fingerprint: &str,
        now: Time,
    ) -> bool {
        self.agent_id == call.agent.id
            && self.tool == call.tool
            && self.tool_fingerprint == fingerprint
            && self.space_id.is_none_or(|space| call.space.is_some_and(|in_| in_.id == space))
            && self.rule == *rule
            && self.counts_at(now)
            && self.when.as_deref().is_none_or(|when| Facts::of(call).holds(when).unwrap_or(false))
    }

    /// Whether it has not ended.
    pub fn counts_at(&self, now: Time) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}
