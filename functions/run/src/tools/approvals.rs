//! Calls that people decide. The rules of an agent say which ones; the loop asks before it makes
//! them.

use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    agents::AgentConfig,
    approvals::{APPROVAL, ApprovalRule, ApprovalState, CheckedCall, Verdict, verdict},
    events::{AskedCall, EventKind},
    ids::SpaceId,
    limits::OPEN_FORMS,
    steps::CallStatus,
    tools::AnswerBy,
};
use smartspace_store::{
    messages::append::{NewApproval, NewForm},
    runs::steps::CallApproval,
};

use crate::{
    prompt::approvals::write_approvers,
    tools::{
        calling::{Calling, Outcome},
        configured::card::CardOutcome,
        ruling::Asked,
        toolbox::Toolbox,
    },
};

/// The strictest verdict on a call, which may have several names: one that refuses it, else the
/// first rule that asks.
pub(crate) fn strictest<'a>(tools: &'a Toolbox, call: CheckedCall<'_>) -> Verdict<'a> {
    tools.names_of(call.tool).fold(Verdict::Make, |strictest, tool| {
        let next = verdict(tools.rules(), &CheckedCall { tool, ..call });
        match (strictest, next) {
            (Verdict::Make, next) | (_, next @ Verdict::Deny(..)) => next,
            (Verdict::Ask(_, first), Verdict::Ask(_, other)) if other < first => next,
            (strictest, _) => strictest,
        }
    })
}

/// Shows a call to the people who decide. The run waits for them.
pub(crate) async fn ask(calling: &Calling<'_>, asked: &Asked) -> Result<Outcome> {
    let name = &calling.begun.name;
    if asked.was_declined {
        let reason = "the same call was declined before in this run; nobody was asked again";
        let declined = CallApproval {
            state: ApprovalState::Declined,
            ..CallApproval::open(asked.rule.clone(), asked.tool_fingerprint.clone())
        };
        return Ok(Outcome {
            approval: Some(Box::new(declined)),
            ..Outcome::completed(json!({"declined": true, "reason": reason}))
        });
    }
    let Some(space) = asked.space else {
        return Ok(Outcome::error(format!(
            "people have to approve a call of {name} in a space, and none is active; call \
             enter_space first"
        )));
    };
    if calling.open_forms >= OPEN_FORMS {
        return Ok(Outcome::error(format!(
            "expected at most {OPEN_FORMS} forms and calls that wait for people at once; call it \
             again when these are decided"
        )));
    }
    if is_last_step(&calling.context.config, calling.step) {
        return Ok(Outcome::error(
            "this is your last step: you would not read the result. Nobody was asked",
        ));
    }
    if let Some(text) = too_few(calling, space, &asked.rule).await? {
        return Ok(Outcome::error(text));
    }
    post(calling, space, asked).await
}

fn is_last_step(config: &AgentConfig, step: u32) -> bool {
    step + 1 >= config.run_loop.max_steps
}

/// The error for the model if fewer people than the rule wants may decide in this space.
async fn too_few(
    calling: &Calling<'_>,
    space: SpaceId,
    rule: &ApprovalRule,
) -> Result<Option<String>> {
    let roster = calling.context.store().members().roster(space).await?;
    let may_decide = roster
        .members
        .iter()
        .filter(|member| rule.by.may_decide(member.entity_id, member.membership()))
        .count();
    Ok((may_decide < rule.quorum as usize).then(|| {
        let people = write_approvers(&rule.by, rule.quorum);
        let there =
            if may_decide == 0 { "nobody".to_owned() } else { format!("only {may_decide}") };
        format!(
            "nobody may approve this here: a call of {} needs an approval by {people}, and {there} \
             in this space may decide",
            calling.begun.name
        )
    }))
}

async fn post(calling: &Calling<'_>, space: SpaceId, asked: &Asked) -> Result<Outcome> {
    let Asked { rule, tool_fingerprint, input, input_schema, .. } = asked;
    let form = NewForm {
        ui: APPROVAL.to_owned(),
        result_schema: Some(smartspace_domain::approvals::result_schema(input_schema)),
        answer_by: AnswerBy::default(),
        until: calling.context.now() + rule.expires_after.length(),
        approval: Some(NewApproval { rule: rule.clone(), input_schema: input_schema.clone() }),
        page_of: None,
    };
    let open = Outcome {
        status: CallStatus::Pending,
        approval: Some(Box::new(CallApproval::open(rule.clone(), tool_fingerprint.clone()))),
        ..Outcome::completed(Value::Null)
    };
    match calling.post_card(space, input.clone(), open, Some(form)).await? {
        CardOutcome::Posted(card, outcome) => {
            if let Some(asked) = AskedCall::of(&card) {
                let event = EventKind::ToolRequested(Box::new(asked));
                calling.context.pipeline.announce(space, event).await;
            }
            Ok(outcome)
        }
        CardOutcome::Refused(outcome) => Ok(outcome),
    }
}
