//! Calls that an MCP server ends with questions to people.
//!
//! What the server wants is stored with the call, which stays under way. Then a form shows the
//! first question. It is a call of its own, behind those of the step, so it is answered and expires
//! like any other form. When all questions are answered, the call is made again with the answers.

use serde_json::{Map, Value, json};
use smartspace_domain::{
    Error, Result,
    events::{AskedCall, EventKind},
    forms::answer_schema,
    ids::{CallId, StreamId},
    limits::{FORM_OPEN_FOR, OPEN_FORMS},
    steps::CallStatus,
    tools::AnswerBy,
};
use smartspace_egress::mcp::{InputAnswers, InputRequired};
use smartspace_store::{
    messages::append::NewForm,
    runs::{
        cards::CardRef,
        steps::{AwaitedInput, CallBegun},
    },
};
use tokio::time::sleep;

use crate::tools::{
    calling::{Calling, Outcome},
    configured::{
        card::CardOutcome,
        mcp::questions::{Question, answer_to, question_of},
    },
};

/// How often a form is posted in a space that takes no further message in this second.
const MAX_TRIES: usize = 5;

/// How a call goes on that begins or is under way.
pub(super) enum Next {
    /// It is sent, with the answers of people if it was sent before.
    Send(Option<InputAnswers>),
    /// It waits for a form, or it has failed.
    Over(Box<Outcome>),
}

impl Next {
    fn over(outcome: Outcome) -> Self {
        Self::Over(Box::new(outcome))
    }
}

/// Decides how a call of `server` goes on.
pub(super) async fn go_on(
    calling: &Calling<'_>,
    server: &str,
    card: Option<CardRef>,
) -> Result<Next> {
    let Some(awaits) = calling.under_way.and_then(|known| known.awaits.as_deref()) else {
        return Ok(Next::Send(None));
    };
    let Some(form) = calling.input_form else {
        // The worker that stored the question stopped before it posted the form.
        return show(calling, server, card, awaits.clone()).await.map(Next::over);
    };
    let answer = answer_to(awaits.request(), form.status, &form.output);
    let (next, answers) = awaits.after(answer);
    if let Some(next) = next {
        let Some(position) = AwaitedInput::next_form(calling.index, Some(awaits.form)) else {
            let outcome = failed(server, "asked too many questions");
            return give_up(calling, card, outcome).await.map(Next::over);
        };
        let awaits = AwaitedInput { form: position, ..next };
        store(calling, &under_way(calling, card, Some(&awaits)), true).await?;
        return show(calling, server, card, awaits).await.map(Next::over);
    }
    // From here on, a worker that takes over the run must not send the call once more.
    store(calling, &under_way(calling, card, None), true).await?;
    Ok(Next::Send(Some(InputAnswers {
        answers: answers.into_iter().collect(),
        round: awaits.form,
        state: awaits.state.clone(),
    })))
}

/// Asks people what the server wants to know.
pub(super) async fn begin(
    calling: &Calling<'_>,
    server: &str,
    card: Option<CardRef>,
    required: InputRequired,
) -> Result<Outcome> {
    let before = calling.under_way.and_then(|known| known.awaits.as_ref());
    let position = AwaitedInput::next_form(calling.index, before.map(|awaits| awaits.form));
    let asked = required.requests.keys().next().cloned();
    let Some((form, asked)) = position.zip(asked) else {
        return Ok(failed(server, "asked too many questions"));
    };
    for request in required.requests.values() {
        if let Err(predicate) = question_of(server, request) {
            return Ok(failed(server, &predicate));
        }
    }
    if calling.open_forms >= OPEN_FORMS {
        let predicate = format!("asked people, but {OPEN_FORMS} forms of this run are open");
        return Ok(failed(server, &predicate));
    }
    let requests = required.requests.into_iter().collect::<Map<_, _>>().into();
    let awaits = AwaitedInput { form, asked, requests, answers: json!({}), state: required.state };
    store(calling, &under_way(calling, card, Some(&awaits)), false).await?;
    show(calling, server, card, awaits).await
}

/// Shows the form of a call that waits for it. If that is impossible, the call waits no longer.
async fn show(
    calling: &Calling<'_>,
    server: &str,
    card: Option<CardRef>,
    awaits: AwaitedInput,
) -> Result<Outcome> {
    match post(calling, server, card, &awaits).await? {
        None => Ok(under_way(calling, card, Some(&awaits))),
        Some(outcome) => give_up(calling, card, outcome).await,
    }
}

/// Stores that the call waits no longer. Its outcome is stored later, as that of any other call.
pub(super) async fn give_up(
    calling: &Calling<'_>,
    card: Option<CardRef>,
    outcome: Outcome,
) -> Result<Outcome> {
    store(calling, &under_way(calling, card, None), true).await?;
    Ok(outcome)
}

/// Posts the form. Returns the outcome of the call if that is impossible.
async fn post(
    calling: &Calling<'_>,
    server: &str,
    card: Option<CardRef>,
    awaits: &AwaitedInput,
) -> Result<Option<Outcome>> {
    let Some(space) = card.map(|card| card.space).or(calling.active_space) else {
        return Ok(Some(failed(server, "asked people, but no space is active")));
    };
    let Question { ui, input, result_schema } = match question_of(server, awaits.request()) {
        Ok(question) => question,
        Err(predicate) => return Ok(Some(failed(server, &predicate))),
    };
    let Ok(result_schema) = answer_schema(ui, result_schema.as_ref(), &input) else {
        return Ok(Some(failed(server, "asked for a form that can't be shown")));
    };
    let call_id = CallId::of(calling.context.run.id, calling.step, awaits.form);
    let begun = CallBegun { call_id, input: input.to_string(), ..calling.begun.clone() };
    let form = form_call(calling, &begun, awaits.form);
    for _ in 0..MAX_TRIES {
        let new = NewForm {
            ui: ui.to_owned(),
            result_schema: result_schema.clone(),
            answer_by: AnswerBy::default(),
            until: calling.context.now() + FORM_OPEN_FOR,
            approval: None,
            page_of: None,
        };
        let open = Outcome { status: CallStatus::Pending, ..Outcome::completed(Value::Null) };
        match form.post_card(space, input.clone(), open, Some(new)).await {
            Ok(CardOutcome::Posted(posted, _)) => {
                if let Some(asked) = AskedCall::of(&posted) {
                    let event = EventKind::ToolRequested(Box::new(asked));
                    calling.context.pipeline.announce(space, event).await;
                }
                return Ok(None);
            }
            Ok(CardOutcome::Refused(refused)) => return Ok(Some(refused)),
            // The loop would make the whole call again.
            Err(Error::TooMany { wait, .. }) => sleep(wait).await,
            Err(error) => return Err(error),
        }
    }
    Ok(Some(failed(server, "asked people, but their space takes no messages now")))
}

/// The form as a call, behind the calls of the step.
fn form_call<'a>(calling: &'a Calling<'_>, begun: &'a CallBegun, index: u32) -> Calling<'a> {
    Calling {
        context: calling.context,
        begun,
        step: calling.step,
        index,
        active_space: calling.active_space,
        stream: StreamId::of(begun.call_id, 1),
        tools_used: calling.tools_used.clone(),
        under_way: None,
        input_form: None,
        ruling: calling.ruling,
        approved: None,
        open_forms: calling.open_forms,
        names: calling.names,
        marks: calling.marks,
        started_at: calling.context.now(),
        spent: calling.spent,
        is_repeatable: false,
        cuts: calling.cuts,
    }
}

/// The call, which is under way and may wait for an input.
fn under_way(
    calling: &Calling<'_>,
    card: Option<CardRef>,
    awaits: Option<&AwaitedInput>,
) -> Outcome {
    let shown_in = card.map(|card| card.space).filter(|_| calling.context.run.space_id().is_none());
    Outcome {
        status: CallStatus::Pending,
        is_external: true,
        is_stored: true,
        awaits: awaits.cloned().map(Box::new),
        card,
        shown_in,
        ..Outcome::completed(Value::Null)
    }
}

async fn store(calling: &Calling<'_>, outcome: &Outcome, waited: bool) -> Result<()> {
    let context = calling.context;
    let call = calling.finished(outcome);
    let _writing = context.writing.lock().await;
    let steps = context.store().steps();
    steps.store_awaited(&context.run, &context.lease, &call, waited, context.now()).await
}

/// The end of a call whose server asks for what nobody can be asked for.
fn failed(server: &str, predicate: &str) -> Outcome {
    Outcome::error(format!("the server {server} {predicate}"))
}
