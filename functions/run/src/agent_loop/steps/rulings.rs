//! What the agent's rules say about the calls of an answer.

use smartspace_domain::{
    Result,
    approvals::{ApprovalRule, CheckedCall, Named, Verdict},
    ids::SpaceId,
};
use smartspace_store::runs::steps::{CallBegun, CallRecord};

use crate::{
    agent_loop::{
        state::{NextCall, Pending, State},
        steps::AgentLoop,
    },
    tools::{
        approvals::strictest,
        execution::tool_and_input,
        ruling::{Asked, Ruling, changed, forbidden},
    },
};

impl AgentLoop<'_> {
    /// What the rules say about the next call. Nothing is read for a tool that no rule names, nor
    /// for a call that has begun.
    pub(super) async fn ruling(
        &self,
        state: &State,
        pending: &Pending,
        next: &NextCall,
    ) -> Result<Ruling> {
        let begun = &pending.calls[next.index];
        let record = pending.records[next.index].as_ref();
        if record.is_some_and(CallRecord::is_under_way) {
            return Ok(Ruling::Make);
        }
        let decided = record.and_then(|call| call.approval.as_ref());
        if decided.is_some_and(|it| it.tool_fingerprint != self.fingerprint(begun)) {
            return Ok(Ruling::Deny(changed(&begun.name)));
        }
        if !self.tools.is_ruled(&begun.name) {
            return Ok(Ruling::Make);
        }
        let edited = record.and_then(|call| edited(begun, call));
        // Nobody is asked about an input that does not fit: the call itself fails.
        let Ok((tool, input)) = tool_and_input(self.tools, edited.as_ref().unwrap_or(begun)) else {
            return Ok(Ruling::Make);
        };
        let shown_in = record.and_then(|call| call.card).map(|card| card.space);
        let Ok((space, input)) = tool.checked(shown_in.or(state.active_space), input) else {
            return Ok(Ruling::Make);
        };
        let space = shown_in.or(space);
        let name = self.space_name(state, space).await?;
        let call = CheckedCall {
            tool: &begun.name,
            input: &input,
            agent: Named { id: self.context.run.agent_id, name: &self.context.name },
            space: space.map(|id| Named { id, name: &name }),
        };
        let rule = match strictest(self.tools, call) {
            Verdict::Deny(rule, index) => {
                return Ok(Ruling::Deny(forbidden(&begun.name, rule, index)));
            }
            Verdict::Ask(rule, _) if record.is_none() => rule,
            Verdict::Ask(..) | Verdict::Make => return Ok(Ruling::Make),
        };
        let fingerprint = self.fingerprint(begun);
        // A fork asks nobody, and has the outcome of the other run.
        if self.context.dry_run.is_none() && self.is_allowed(rule, &call, &fingerprint).await? {
            return Ok(Ruling::Make);
        }
        let input_schema = self.tools.find(&begun.name).map(|tool| tool.expected_schema().clone());
        Ok(Ruling::Ask(Box::new(Asked {
            was_declined: state.was_declined(&begun.name, &input),
            rule: rule.clone(),
            tool_fingerprint: fingerprint,
            space,
            input_schema: input_schema.unwrap_or_default(),
            input,
        })))
    }

    /// Whether a remembered approval answers the rule for this call.
    async fn is_allowed(
        &self,
        rule: &ApprovalRule,
        call: &CheckedCall<'_>,
        fingerprint: &str,
    ) -> Result<bool> {
        let now = self.context.now();
        let allowances = self.context.store().allowances().of_agent(call.agent.id, now).await?;
        Ok(allowances.iter().any(|allowance| allowance.fits(rule, call, fingerprint, now)))
    }

    fn fingerprint(&self, begun: &CallBegun) -> String {
        self.context.config.tool_fingerprint(&begun.name)
    }

    async fn space_name(&self, state: &State, space: Option<SpaceId>) -> Result<String> {
        let Some(space) = space else { return Ok(String::new()) };
        if let Some((_, name)) = state.spaces.iter().find(|(id, _)| *id == space) {
            return Ok(name.clone());
        }
        let mut overviews = self.context.store().spaces().overviews(&[space]).await?;
        Ok(overviews.remove(&space).map(|it| it.name).unwrap_or_default())
    }

    /// Whether one of the calls that wait for people changes the active space. A call behind it
    /// can't be shown before: it is not known where.
    pub(super) fn may_change_space(&self, pending: &Pending, behind: &[usize]) -> bool {
        behind.iter().any(|index| self.tools.changes_space(&pending.calls[*index].name))
    }

    /// An approved call, without its card if the space of that was deleted.
    pub(super) async fn with_card(
        &self,
        approved: Option<&CallRecord>,
    ) -> Result<Option<CallRecord>> {
        let Some(mut approved) = approved.cloned() else { return Ok(None) };
        if let Some(card) = &approved.card
            && self.context.store().messages().record(card.space, card.seq).await?.is_none()
        {
            approved.card = None;
        }
        Ok(Some(approved))
    }
}

/// The call with the input of the last person who edited it, if anybody did.
pub(super) fn edited(begun: &CallBegun, call: &CallRecord) -> Option<CallBegun> {
    let input = call.approval.as_ref()?.input.as_ref()?;
    Some(CallBegun { input: input.to_string(), ..begun.clone() })
}
