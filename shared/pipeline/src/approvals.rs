//! Decisions of people on calls that wait for approval.

use serde_json::Value;
use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    approvals::{
        Allowance, ApprovalCount, ApprovalState, CheckedCall, Decision, DecisionAction,
        MadeDecision, Named, NewAllowance, Verdict, verdict,
    },
    errors::Fault,
    forms::{FormAnswer, no_such_form},
    ids::{AllowanceId, CallId, EntityId, LeaseId, RunId},
    runs::EndReason,
    steps::CallStatus,
};
use smartspace_store::{
    runs::{
        approvals::{Approved, CallApproval, FormApproval},
        forms::{FormRecord, Resolution, Resolved},
        steps::CallRecord,
    },
    spaces::rosters::MemberRecord,
};

use crate::{
    Pipeline,
    forms::{run_over, too_late},
};

/// A decision of a person who may make it.
struct Deciding<'a> {
    form: &'a FormRecord,
    asked: &'a FormApproval,
    decision: &'a Decision,
    by: MemberRecord,
    by_operator: bool,
    now: Time,
    token: LeaseId,
}

/// The outcome of a try to store a decision.
enum Tried {
    Stored(ApprovalCount),
    /// The call has changed since it was read.
    Changed(Box<CallRecord>),
}

impl Pipeline {
    /// Decides a call that waits for approval. The operator names the person who decides in
    /// `sender_id`. The same person may repeat the same decision. Fails with [`Error::Conflict`] if
    /// the call was decided otherwise, has expired, or was canceled with its run.
    pub async fn decide(
        &self,
        credential: Caller,
        sender_id: Option<EntityId>,
        run: RunId,
        call: CallId,
        decision: &Decision,
    ) -> Result<ApprovalCount> {
        let form = self.store.forms().get(run, call).await?.ok_or_else(no_such_form)?;
        let (by, asked) = self.decider(credential, sender_id, &form).await?;
        let by_operator = credential == Caller::Operator;
        let (now, token) = (self.now(), self.token());
        self.make_decision(&Deciding { form: &form, asked, decision, by, by_operator, now, token })
            .await
    }

    /// Answers the card of a call that waits for approval like a form: the output is a decision.
    pub(crate) async fn answer_approval(
        &self,
        credential: Caller,
        sender_id: Option<EntityId>,
        form: &FormRecord,
        answer: &FormAnswer,
    ) -> Result<()> {
        let (by, asked) = self.decider(credential, sender_id, form).await?;
        let (decision, at) = match answer {
            FormAnswer::Output(output) => (Decision::of_output(output)?, "/output"),
            FormAnswer::Declined(reason) => {
                answer.check(None)?;
                (Decision::decline(reason.clone()), "")
            }
        };
        let by_operator = credential == Caller::Operator;
        let (now, token) = (self.now(), self.token());
        let deciding = Deciding { form, asked, decision: &decision, by, by_operator, now, token };
        self.make_decision(&deciding).await.map(|_| ()).map_err(|error| moved(error, at))
    }

    /// The person who decides, if this person may.
    async fn decider<'a>(
        &self,
        credential: Caller,
        sender_id: Option<EntityId>,
        form: &'a FormRecord,
    ) -> Result<(MemberRecord, &'a FormApproval)> {
        let by = credential.speaks_as(sender_id)?;
        // Members of a deleted space are there a little longer than the space.
        self.store.spaces().record(form.call.card.space).await.map_err(|error| match error {
            Error::NotFound(_) => no_such_form(),
            error => error,
        })?;
        let member = self.store.members().get(form.call.card.space, by).await?;
        let membership = member.as_ref().map(MemberRecord::membership);
        let Some(asked) = &form.approval else {
            Caller::Entity(by).may_answer(&form.answer_by, membership)?;
            return Err(Error::Conflict("this is a form: answer it with a result".into()));
        };
        Caller::Entity(by).may_decide(&asked.rule.by, membership)?;
        Ok((member.ok_or_else(no_such_form)?, asked))
    }

    async fn make_decision(&self, deciding: &Deciding<'_>) -> Result<ApprovalCount> {
        let Deciding { form, asked, decision, .. } = deciding;
        let mut call = self.store.forms().call(form).await?.ok_or_else(no_such_form)?;
        // An edit counts for any input, unless it says which one it changes.
        let approves = decision.action == DecisionAction::Approve;
        let seen = decision.input_revision.or(approves.then(|| input_revision(&call)));
        decision.check(&asked.rule, &asked.input_schema)?;
        let mut is_checked = false;
        loop {
            if let Some(count) = deciding.made_before(&call)? {
                return Ok(count);
            }
            if !is_checked {
                self.check_edit(form, &call, decision.input.as_ref()).await?;
                is_checked = true;
            }
            if form.until <= deciding.now {
                self.wake(form.call.run_id).await;
                return Err(too_late());
            }
            let now = input_revision(&call);
            if seen.is_some_and(|seen| seen != now) {
                return Err(Error::Conflict(format!(
                    "somebody has edited the input meanwhile: read it again before you decide (its \
                     inputRevision is {now})"
                )));
            }
            match self.try_decision(deciding, &call).await? {
                Tried::Stored(count) => return Ok(count),
                Tried::Changed(changed) => call = *changed,
            }
        }
    }

    async fn try_decision(&self, deciding: &Deciding<'_>, call: &CallRecord) -> Result<Tried> {
        let Deciding { form, decision, token, .. } = deciding;
        let before = call.approval.as_ref().ok_or_else(no_such_form)?;
        let approval = before.after(decision, deciding.made(), token);
        let count = approval.count();
        if !decision.action.approves() {
            let resolution = deciding.resolution(approval);
            return match self.store.forms().resolve(&form.call, &resolution, deciding.now).await? {
                Resolved::Now => {
                    self.wake(form.call.run_id).await;
                    self.notify_resolved(&form.call).await;
                    Ok(Tried::Stored(count))
                }
                Resolved::Before(call) => Ok(Tried::Changed(call)),
                Resolved::RunOver | Resolved::FileGone(_) => Err(run_over()),
            };
        }
        let remembered = self.remembered(deciding, call).await?;
        let forms = self.store.forms();
        match forms.approve(&form.call, &approval, remembered.as_ref(), deciding.now).await? {
            Approved::Now if approval.state == ApprovalState::Approved => {
                self.wake(form.call.run_id).await;
                self.notify_resolved(&form.call).await;
                Ok(Tried::Stored(count))
            }
            Approved::Now => {
                self.announce_card(&form.call.card).await;
                Ok(Tried::Stored(count))
            }
            Approved::Changed(call) => Ok(Tried::Changed(call)),
            Approved::RunOver => Err(run_over()),
        }
    }

    /// Checks a new input against the rules of the agent. The call keeps its rule, but a rule that
    /// denies such a call refuses the edit.
    async fn check_edit(
        &self,
        form: &FormRecord,
        call: &CallRecord,
        input: Option<&Value>,
    ) -> Result<()> {
        let Some(input) = input else { return Ok(()) };
        let space = form.call.card.space;
        let run = self.store.runs().record(form.call.run_id).await?;
        let agent = self.store.entities().get(run.agent_id).await?;
        let space_name = self.store.spaces().record(space).await?.settings.name;
        let rules = agent.agent.map(|config| config.approvals).unwrap_or_default();
        let checked = CheckedCall {
            tool: &call.name,
            input,
            agent: Named { id: run.agent_id, name: &agent.name },
            space: Some(Named { id: space, name: &space_name }),
        };
        match verdict(&rules, &checked) {
            Verdict::Deny(rule, index) => Err(Error::Conflict(format!(
                "a rule of the agent forbids this input: rule {} ({})",
                index + 1,
                rule.tools.join(", ")
            ))),
            Verdict::Make | Verdict::Ask(..) => Ok(()),
        }
    }

    /// The allowance that the decision makes, if it makes one.
    async fn remembered(
        &self,
        deciding: &Deciding<'_>,
        call: &CallRecord,
    ) -> Result<Option<Allowance>> {
        let Some(remember) = &deciding.decision.remember else { return Ok(None) };
        let run = self.store.runs().record(deciding.form.call.run_id).await?;
        let new = NewAllowance {
            id: AllowanceId::new(deciding.now, self.ids.random()),
            agent: run.agent_id,
            tool: &call.name,
            space: deciding.form.call.card.space,
            rule: &deciding.asked.rule,
            tool_fingerprint: call.approval.as_ref().map_or("", |it| &it.tool_fingerprint),
            remember,
            by: deciding.by.entity_id,
            by_name: &deciding.by.name,
            by_operator: deciding.by_operator,
        };
        Allowance::new(&new, deciding.now).map(Some)
    }
}

impl Deciding<'_> {
    fn made(&self) -> MadeDecision {
        MadeDecision {
            by: self.by.entity_id,
            name: self.by.name.clone(),
            action: self.decision.action,
            at: self.now,
            by_operator: self.by_operator,
            remembers: self.decision.remember.is_some(),
        }
    }

    /// The result of a decision that does not approve the call.
    fn resolution(&self, approval: CallApproval) -> Resolution {
        let ends = self.decision.action == DecisionAction::End;
        Resolution {
            by: Some(self.by.sender()),
            label: Caller::Entity(self.by.entity_id).label(),
            approval: Some(approval),
            ends: ends.then_some(EndReason::Declined),
            ..Resolution::unanswered(
                CallStatus::Completed,
                self.decision.output(),
                self.token.clone(),
            )
        }
    }

    /// The count after the same decision of the same person, if that was made before. `None` if the
    /// call still waits. Fails if it was decided otherwise.
    fn made_before(&self, call: &CallRecord) -> Result<Option<ApprovalCount>> {
        let approval = call.approval.as_ref().ok_or_else(no_such_form)?;
        match call.status {
            CallStatus::Expired => return Err(too_late()),
            CallStatus::Canceled => return Err(run_over()),
            _ => {}
        }
        let is_repeated =
            approval.decisions.iter().any(|made| self.repeats(made, approval, &call.output));
        match (call.status, approval.state) {
            _ if is_repeated => Ok(Some(approval.count())),
            (CallStatus::Pending, ApprovalState::Open) => Ok(None),
            _ => Err(Error::Conflict("the call was already decided".into())),
        }
    }

    fn repeats(&self, made: &MadeDecision, approval: &CallApproval, output: &Value) -> bool {
        let stands = approval.state != ApprovalState::Declined;
        made.by == self.by.entity_id
            && match self.decision.action {
                DecisionAction::Approve => {
                    let seen = self.decision.input_revision;
                    made.action.approves()
                        && stands
                        && seen.is_none_or(|seen| seen == approval.input_revision)
                        && (made.remembers || self.decision.remember.is_none())
                }
                DecisionAction::Edit => {
                    let is_same = approval.input == self.decision.input;
                    made.action == DecisionAction::Edit && is_same && stands
                }
                action => made.action == action && *output == self.decision.output(),
            }
    }
}

/// How often people have edited the input.
fn input_revision(call: &CallRecord) -> u32 {
    call.approval.as_ref().map_or(0, |approval| approval.input_revision)
}

/// An error whose pointers begin behind `at`.
fn moved(error: Error, at: &str) -> Error {
    let Error::Invalid(faults) = error else { return error };
    let moved = |fault: Fault| Fault::new(format!("{at}{}", fault.pointer), fault.detail);
    Error::Invalid(faults.into_iter().map(moved).collect())
}
