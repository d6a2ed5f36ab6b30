//! Makes calls: finds the tool, checks the input, and stores what came of it.

use futures::future::{join_all, try_join_all};
use serde_json::Value;
use smartspace_domain::Result;

use crate::{
    prompt::quoted::Excerpt,
    tools::{
        calling::{Calling, Outcome},
        configured::external_call,
        output::{SCHEMA_BYTES, SHOWN_CHARS, bounded_to, misfit, parse},
        tool::{Concurrency, StartedCall, Tool},
        toolbox::Toolbox,
    },
};

/// Makes neighbouring calls with the concurrency that they share, and stores what came of them.
pub(crate) async fn execute(
    toolbox: &Toolbox,
    callings: &[Calling<'_>],
    concurrency: Concurrency,
) -> Result<Vec<Outcome>> {
    let mut started = Vec::with_capacity(callings.len());
    if concurrency == Concurrency::Reading {
        let begin = |calling| Box::pin(begin(toolbox, calling));
        started = try_join_all(callings.iter().map(begin)).await?;
    } else {
        // In their written order: visible calls show in this order.
        for calling in callings {
            started.push(Box::pin(begin(toolbox, calling)).await?);
        }
    }
    let ended = callings.iter().zip(started).map(async |(calling, started)| match started {
        StartedCall::UnderWay(call) => call.await,
        StartedCall::Done(outcome) if outcome.is_stored => Ok(outcome),
        StartedCall::Done(outcome) => calling.store_outcome(&outcome).await.map(|()| outcome),
    });
    // Each call runs to its end: the result of one is stored even if another fails.
    join_all(ended).await.into_iter().collect()
}

/// Begins a call whose input fits its tool.
/// A mistake of the model is an outcome; an error is a fault of ours.
async fn begin<'a>(toolbox: &'a Toolbox, calling: &'a Calling<'a>) -> Result<StartedCall<'a>> {
    // The tool was repeatable when the call began and must still be: its configuration may have
    // changed since.
    if let Some(known) = calling.under_way
        && !(known.repeatable && calling.is_repeatable)
    {
        return external_call::unknown(calling, known).await.map(StartedCall::Done);
    }
    let started = match checked(toolbox, calling) {
        Ok((tool, input)) => Box::pin(tool.call(calling, input)).await?,
        Err(text) => StartedCall::Done(Outcome::error(text)),
    };
    match (started, calling.under_way) {
        // The tool was changed meanwhile, or a secret is gone: the call can't be repeated.
        (StartedCall::Done(_), Some(known)) => {
            external_call::unknown(calling, known).await.map(StartedCall::Done)
        }
        (started, _) => Ok(started),
    }
}

/// The tool that a call names, and its input as JSON. The error is for the model.
fn checked<'a>(
    toolbox: &'a Toolbox,
    calling: &Calling<'_>,
) -> Result<(&'a dyn Tool, Value), String> {
    let name = calling.begun.name.as_str();
    let Some(tool) = toolbox.find(name) else {
        let name = Excerpt(name, SHOWN_CHARS);
        return Err(format!("there is no tool {name}; there are {}", toolbox.names().join(", ")));
    };
    let schema = &tool.spec.input;
    let input = parse(&calling.begun.input).map_err(|error| {
        let expected = bounded_to(schema.clone(), SCHEMA_BYTES);
        format!("the input of {name} is not JSON ({error}); expected {expected}")
    })?;
    match misfit(name, tool.validator.as_ref(), schema, &input) {
        Some(text) => Err(text),
        None => Ok((&*tool.tool, input)),
    }
}
