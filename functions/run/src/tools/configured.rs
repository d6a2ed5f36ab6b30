//! Tools of an agent's configuration: what each kind does with its input.

use serde_json::Value;
use smartspace_domain::{
    Result,
    events::{AskedCall, Happening},
    forms::answer_schema,
    ids::SpaceId,
    limits::OPEN_FORMS,
    steps::CallStatus,
};
use smartspace_store::append::NewForm;

use super::{
    Begun, Calling, Outcome, bounded,
    card::Posted,
    misfit,
    outside::{self, Request},
    toolbox::{Configured, Does, Form},
};

/// What an expression is given, in bytes of JSON: for so much its time and memory are bounded.
const COMPUTED_BYTES: usize = 64 * 1024;

/// Does a call of a configured tool; one that reaches outside is begun.
pub(super) async fn begin<'a>(calling: &'a Calling<'a>, tool: &'a Configured, input: Value) -> Result<Begun<'a>> {
    let (space, input) = if tool.is_visible {
        match calling.shown_in(tool, input) {
            Ok((space, input)) => (Some(space), input),
            Err(text) => return Ok(Begun::Done(Outcome::error(text))),
        }
    } else {
        (None, input)
    };
    if let Some(text) = misfit(&tool.name, tool.validator(), &tool.input_schema, &input) {
        return Ok(Begun::Done(Outcome::error(text)));
    }
    let outcome = match &tool.does {
        Does::Ask(form) => return ask(calling, (space, input), form).await.map(Begun::Done),
        Does::Say(output) => Outcome::completed(bounded(output.clone())),
        Does::Compute(expression) => compute(expression, &input),
        Does::Http(http) => match http.request(calling, &input, tool.is_idempotent).await {
            Ok(request) => return outside::begin(calling, Request::Http(Box::new(request)), space.map(|space| (space, input))).await,
            Err(text) => Outcome::error(text),
        },
        Does::Mcp(mcp) => {
            let request = Request::Mcp(mcp, input.clone());
            return outside::begin(calling, request, space.map(|space| (space, input))).await;
        }
    };
    // What has begun has its card.
    let Some(space) = space.filter(|_| calling.under_way.is_none()) else { return Ok(Begun::Done(outcome)) };
    Ok(Begun::Done(match calling.post_card(space, input, outcome, None).await? {
        Posted::Yes(_, outcome) | Posted::No(outcome) => outcome,
    }))
}

fn compute(expression: &str, input: &Value) -> Outcome {
    if input.to_string().len() > COMPUTED_BYTES {
        return Outcome::error(format!("the input is too long to compute with; expected at most {COMPUTED_BYTES} bytes"));
    }
    match smartspace_cel::evaluate(expression, input) {
        Ok(output) => Outcome::completed(bounded(output)),
        Err(error) => Outcome::error(error),
    }
}

/// Shows a form. Its result comes from people, when the run has done all else that its model asked for.
async fn ask(calling: &Calling<'_>, (space, input): (Option<SpaceId>, Value), form: &Form) -> Result<Outcome> {
    let Some(space) = space else { return Ok(Outcome::error("there is no space to ask in")) };
    if calling.open_forms >= OPEN_FORMS {
        return Ok(Outcome::error(format!("expected at most {OPEN_FORMS} forms at once; ask again when these are answered")));
    }
    if calling.step + 1 >= calling.worker.config.run_loop.max_steps {
        return Ok(Outcome::error("this is your last step: you would not read the answer. Nobody was asked"));
    }
    let result_schema = match answer_schema(&form.ui, form.result_schema.as_ref(), &input) {
        Ok(schema) => schema,
        Err(error) => return Ok(Outcome::error(format!("the input of {} does not fit: {error}", calling.begun.name))),
    };
    let until = calling.worker.pipeline.now() + form.waits;
    let form = NewForm { ui: form.ui.clone(), result_schema, answer_by: form.answer_by.clone(), until };
    let open = Outcome { status: CallStatus::Pending, ..Outcome::completed(Value::Null) };
    match calling.post_card(space, input, open, Some(form)).await? {
        Posted::Yes(card, outcome) => {
            if let Some(asked) = AskedCall::of(&card) {
                calling.worker.pipeline.announce(space, Happening::ToolRequested(Box::new(asked))).await;
            }
            Ok(outcome)
        }
        Posted::No(outcome) => Ok(outcome),
    }
}
