//! Tools of the type `space`: a call shows a form, and people answer it.

use std::time::Duration;

use serde_json::Value;
use smartspace_domain::{
    Result,
    events::{AskedCall, EventKind},
    forms::answer_schema,
    ids::SpaceId,
    limits::OPEN_FORMS,
    steps::CallStatus,
    tools::AnswerBy,
};
use smartspace_store::messages::append::NewForm;

use crate::tools::{
    calling::{Calling, Outcome},
    configured::card::CardOutcome,
};

/// A form as it is configured.
pub(crate) struct Form {
    pub(crate) ui: String,
    pub(crate) result_schema: Option<Value>,
    pub(crate) waits: Duration,
    pub(crate) answer_by: AnswerBy,
}

/// Shows a form. The run waits for its result after all other calls of the same answer are done.
pub(super) async fn ask(
    calling: &Calling<'_>,
    space: Option<SpaceId>,
    input: Value,
    form: &Form,
) -> Result<Outcome> {
    let Some(space) = space else { return Ok(Outcome::error("there is no space to ask in")) };
    if calling.open_forms >= OPEN_FORMS {
        return Ok(Outcome::error(format!(
            "expected at most {OPEN_FORMS} forms at once; ask again when these are answered"
        )));
    }
    if calling.step + 1 >= calling.context.config.run_loop.max_steps {
        return Ok(Outcome::error(
            "this is your last step: you would not read the answer. Nobody was asked",
        ));
    }
    let result_schema = match answer_schema(&form.ui, form.result_schema.as_ref(), &input) {
        Ok(schema) => schema,
        Err(error) => {
            return Ok(Outcome::error(format!(
                "the input of {} does not fit: {error}",
                calling.begun.name
            )));
        }
    };
    let until = calling.context.now() + form.waits;
    let form = NewForm {
        ui: form.ui.clone(),
        result_schema,
        answer_by: form.answer_by.clone(),
        until,
        approval: None,
        page_of: None,
    };
    let open = Outcome { status: CallStatus::Pending, ..Outcome::completed(Value::Null) };
    match calling.post_card(space, input, open, Some(form)).await? {
        CardOutcome::Posted(card, outcome) => {
            if let Some(asked) = AskedCall::of(&card) {
                calling
                    .context
                    .pipeline
                    .announce(space, EventKind::ToolRequested(Box::new(asked)))
                    .await;
            }
            Ok(outcome)
        }
        CardOutcome::Refused(outcome) => Ok(outcome),
    }
}
