//! Makes calls: finds the tool, checks the input, and stores the outcome.

use futures::future::{join_all, try_join_all};
use serde_json::{Value, json};
use smartspace_domain::{Error, Result, tools::SEND_MESSAGE};
use smartspace_models::partial_json::TextScanner;
use smartspace_store::runs::steps::CallBegun;

use crate::{
    dry_run::StoredResult,
    prompt::format::Excerpt,
    tools::{
        approvals,
        calling::{Calling, Outcome, is_incomplete},
        configured::external_call,
        input::{MAX_QUOTED_CHARS, MAX_SCHEMA_BYTES, parse, schema_error, without_nulls},
        output::bounded_to,
        ruling::Ruling,
        tool::{Concurrency, StartedCall, Tool},
        toolbox::Toolbox,
    },
};

/// Makes neighbouring calls with the concurrency that they share, and stores their outcomes. Fails
/// with [`Error::TooMany`] if the first of them is to be made later, because its space accepts no
/// further message in this second. If that happens to another one, it and the following ones have
/// no outcome.
pub(crate) async fn execute(
    toolbox: &Toolbox,
    callings: &[Calling<'_>],
    concurrency: Concurrency,
) -> Result<Vec<Outcome>> {
    let mut started = Vec::with_capacity(callings.len());
    if concurrency == Concurrency::Reading {
        let begin = |calling| Box::pin(begin_traced(toolbox, calling));
        started = try_join_all(callings.iter().map(begin)).await?;
    } else {
        // In their written order, because the cards of visible calls show in the order of their
        // posts.
        for calling in callings {
            match Box::pin(begin_traced(toolbox, calling)).await {
                // The calls that have begun come to their end first.
                Err(Error::TooMany { .. }) if !started.is_empty() => break,
                begun => started.push(begun?),
            }
        }
    }
    let ended = callings.iter().zip(started).map(async |(calling, started)| {
        let outcome = match started {
            StartedCall::UnderWay(call) => {
                calling.context.caused_by(calling.begun.call_id, call).await?
            }
            StartedCall::Done(outcome) => {
                if !outcome.is_stored {
                    calling.store_outcome(&outcome).await?;
                }
                outcome
            }
        };
        let Calling { context, begun, started_at, approved, .. } = calling;
        if let Some(card) = approved.and_then(|call| call.card)
            && !outcome.is_external
        {
            context.pipeline.announce_card(&card).await;
        }
        context.show_call(begun.call_id, outcome.status, *started_at);
        Ok(outcome)
    });
    // Each call runs to its end, so that the result of one is stored even if another fails.
    join_all(ended).await.into_iter().collect()
}

/// Begins a call. The trace of the run shows the call as the cause of everything that it does.
async fn begin_traced<'a>(
    toolbox: &'a Toolbox,
    calling: &'a Calling<'a>,
) -> Result<StartedCall<'a>> {
    calling.context.caused_by(calling.begun.call_id, begin(toolbox, calling)).await
}

/// Begins a call whose input fits its tool.
/// A mistake of the model is an outcome. An `Err` is a failure of Smartspace.
async fn begin<'a>(toolbox: &'a Toolbox, calling: &'a Calling<'a>) -> Result<StartedCall<'a>> {
    // A call that waits for an input was answered with the question, so nothing of it is unknown.
    // The tool was repeatable when the call began and must still be: its configuration may have
    // changed since.
    if let Some(known) = calling.under_way
        && known.awaits.is_none()
        && !(known.repeatable && calling.is_repeatable)
    {
        return external_call::store_unknown(calling, known).await.map(StartedCall::Done);
    }
    let started = match tool_and_input(toolbox, calling.begun) {
        Ok((tool, _)) if let Some(outcome) = dry_outcome(tool, calling) => {
            StartedCall::Done(outcome)
        }
        Ok((tool, input)) => match calling.ruling {
            Ruling::Make => Box::pin(tool.call(calling, input)).await?,
            Ruling::Deny(text) => StartedCall::Done(Outcome::error(text)),
            Ruling::Ask(asked) => {
                StartedCall::Done(Box::pin(approvals::ask(calling, asked)).await?)
            }
        },
        Err(_) if calling.cuts > 0 && is_incomplete(calling.begun) => {
            Box::pin(begin_cut(toolbox, calling)).await?
        }
        Err(text) => StartedCall::Done(Outcome::error(text)),
    };
    match (started, calling.under_way) {
        // The tool has changed since, or a secret is gone, so the call can't be repeated.
        (StartedCall::Done(_), Some(known)) => {
            external_call::store_unknown(calling, known).await.map(StartedCall::Done)
        }
        (started, _) => Ok(started),
    }
}

/// Begins a call whose input the limit of the answer has cut. The model hears of it once. The next
/// time, what it has written of a message is posted: it would be cut again and again. If a rule
/// names messages, it is not: nobody has decided it.
async fn begin_cut<'a>(toolbox: &'a Toolbox, calling: &'a Calling<'a>) -> Result<StartedCall<'a>> {
    let text = TextScanner::new("text").push(&calling.begun.input);
    let is_post = calling.begun.name == SEND_MESSAGE && !toolbox.is_ruled(SEND_MESSAGE);
    let tool = toolbox.find(SEND_MESSAGE).filter(|_| is_post);
    match tool {
        Some(tool) if calling.cuts > 1 && !text.trim().is_empty() => {
            tool.tool.call(calling, json!({ "text": text })).await
        }
        _ => {
            let limit = calling.context.model.max_output_tokens;
            let text = format!("Your answer was cut at {limit} tokens. Write a shorter message.");
            Ok(StartedCall::Done(Outcome::error(text)))
        }
    }
}

/// The outcome of a call that a dry run does not make. It asks nobody: a call that people would
/// decide has the outcome of the other run.
fn dry_outcome(tool: &dyn Tool, calling: &Calling<'_>) -> Option<Outcome> {
    let dry_run = calling.context.dry_run.as_ref()?;
    match calling.ruling {
        Ruling::Make if tool.is_made_dry() => return None,
        Ruling::Make | Ruling::Ask(_) => {}
        Ruling::Deny(_) => return None,
    }
    let StoredResult { status, output, places, files } = dry_run.result(calling.begun);
    Some(Outcome { status, places, files, ..Outcome::completed(output) })
}

/// The tool that a call names, and its input as JSON. The error is for the model.
pub(crate) fn tool_and_input<'a>(
    toolbox: &'a Toolbox,
    call: &CallBegun,
) -> Result<(&'a dyn Tool, Value), String> {
    let name = call.name.as_str();
    let Some(tool) = toolbox.find(name) else {
        let name = Excerpt(name, MAX_QUOTED_CHARS);
        return Err(format!("there is no tool {name}; there are {}", toolbox.names().join(", ")));
    };
    let schema = tool.expected_schema();
    let mut input = parse(&call.input).map_err(|error| {
        let expected = bounded_to(schema.clone(), MAX_SCHEMA_BYTES);
        format!("the input of {name} is not JSON ({error}); expected {expected}")
    })?;
    if tool.tool.own_schema().is_none() {
        without_nulls(schema, &mut input);
    }
    match schema_error(name, tool.validator.as_ref(), schema, &input) {
        Some(text) => Err(text),
        None => Ok((&*tool.tool, input)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{
        Time,
        agents::Builtins,
        ids::{CallId, RunId},
    };

    use super::*;

    fn error_of(toolbox: &Toolbox, name: &str, input: &str) -> Option<String> {
        let call_id = CallId::of(RunId::new(Time::from_millis(1), 1), 0, 0);
        let begun = CallBegun {
            call_id,
            name: name.into(),
            input: input.into(),
            provider_id: String::new(),
        };
        tool_and_input(toolbox, &begun).err()
    }

    #[test]
    fn an_input_that_is_not_json_is_answered_with_the_configured_schema() {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let tool = json!({
            "name": "weather",
            "description": "",
            "inputSchema": schema,
            "visible": true,
            "execution": {"type": "static", "output": 1},
        });
        let toolbox =
            Toolbox::new(Builtins::default(), &[serde_json::from_value(tool).unwrap()], Vec::new());
        let error = parse("{").unwrap_err();
        assert_eq!(
            error_of(&toolbox, "weather", "{"),
            Some(format!("the input of weather is not JSON ({error}); expected {schema}"))
        );
        // The tool checks the input itself, after the space for the card is removed.
        assert_eq!(error_of(&toolbox, "weather", "[]"), None);
    }

    #[test]
    fn an_input_of_a_built_in_tool_is_checked_before_the_call() {
        let toolbox = Toolbox::new(Builtins::default(), &[], Vec::new());
        assert_eq!(error_of(&toolbox, "skip_response", r#"{"reason": "done"}"#), None);
        let error = error_of(&toolbox, "skip_response", "{}").unwrap();
        assert!(
            error.starts_with(
                "the input of skip_response does not fit: \"reason\" is a required property"
            ),
            "{error}"
        );
        let sent = r#"{"text": "Hi", "attachments": null, "replyTo": null, "more": null}"#;
        let ending = Toolbox::new(Builtins::default(), &[], Vec::new()).ending_after_send(true);
        assert_eq!(error_of(&ending, "send_message", sent), None);
        let error = error_of(&toolbox, "made_up", "{}").unwrap();
        assert!(
            error.starts_with("there is no tool \"made_up\"; there are absorb_run, "),
            "{error}"
        );
    }
}
