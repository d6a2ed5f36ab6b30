//! Tools of an agent's configuration: what each kind does with its input.

use serde_json::Value;
use smartspace_domain::{
    Result,
    durations::WrittenDuration,
    events::{AskedCall, Happening},
    forms::answer_schema,
    limits::{FORM_WAITS, OPEN_FORMS},
    steps::CallStatus,
    tools::{AnswerBy, Execution},
};
use smartspace_store::append::NewForm;

use super::{Calling, Outcome, bounded, card::Posted, misfit, toolbox::Configured};

/// What an expression is given, in bytes of JSON: for so much its time and memory are bounded.
const COMPUTED_BYTES: usize = 64 * 1024;

/// Does a call of a configured tool.
pub(super) async fn call(calling: &Calling<'_>, configured: &Configured, input: Value) -> Result<Outcome> {
    let tool = &configured.tool;
    let shown = if configured.is_visible() {
        match calling.shown_in(configured, input) {
            Ok((space, input)) => (Some(space), input),
            Err(text) => return Ok(Outcome::error(text)),
        }
    } else {
        (None, input)
    };
    let (space, input) = shown;
    if let Some(outcome) = misfit(&tool.name, configured.validator(), &tool.input_schema, &input) {
        return Ok(outcome);
    }
    let outcome = match &tool.execution {
        Execution::Space { ui, result_schema, expires_after, answer_by } => {
            let own = result_schema.as_ref();
            return ask(calling, (space, input), (ui, own, expires_after.as_ref(), answer_by)).await;
        }
        Execution::Static { output } => Outcome::completed(bounded(output.clone())),
        Execution::Compute { .. } if input.to_string().len() > COMPUTED_BYTES => {
            Outcome::error(format!("the input is too long to compute with; expected at most {COMPUTED_BYTES} bytes"))
        }
        Execution::Compute { expression } => match smartspace_cel::evaluate(expression, &input) {
            Ok(output) => Outcome::completed(bounded(output)),
            Err(error) => Outcome::error(error),
        },
        Execution::Http { .. } => Outcome::error("tools over HTTP can't be used here yet"),
    };
    let Some(space) = space else { return Ok(outcome) };
    Ok(match calling.post_card(space, input, outcome, None).await? {
        Posted::Yes(_, outcome) | Posted::No(outcome) => outcome,
    })
}

type Asked<'a> = (&'a str, Option<&'a Value>, Option<&'a WrittenDuration>, &'a AnswerBy);

/// Shows a form. Its result comes from people, when the run has done all else that its model asked for.
async fn ask(
    calling: &Calling<'_>,
    (space, input): (Option<smartspace_domain::ids::SpaceId>, Value),
    (ui, own, expires_after, answer_by): Asked<'_>,
) -> Result<Outcome> {
    let Some(space) = space else { return Ok(Outcome::error("there is no space to ask in")) };
    if calling.open_forms >= OPEN_FORMS {
        return Ok(Outcome::error(format!("expected at most {OPEN_FORMS} forms at once; ask again when these are answered")));
    }
    if calling.step + 1 >= calling.worker.config.run_loop.max_steps {
        return Ok(Outcome::error("this is your last step: you would not read the answer. Nobody was asked"));
    }
    let result_schema = match answer_schema(ui, own, &input) {
        Ok(schema) => schema,
        Err(error) => return Ok(Outcome::error(format!("the input of {} does not fit: {error}", calling.begun.name))),
    };
    let waits = expires_after.map_or(FORM_WAITS, WrittenDuration::length);
    let until = calling.worker.pipeline.now() + waits;
    let form = NewForm { ui: ui.to_owned(), result_schema, answer_by: answer_by.clone(), until };
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
