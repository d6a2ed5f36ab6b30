//! What an agent can do: built-in tools, a file each, and those of its configuration ([`configured`], shown as a [`card`]). [`toolbox`] is what
//! its model is told of; [`run`] checks the inputs of calls and makes them. What reaches outside ([`http`], [`mcp`]) goes by way of [`outside`].

mod absorb_run;
mod card;
mod configured;
mod delegate;
mod delete_goals;
mod delete_memories;
mod delete_plans;
mod enter_space;
mod get_memories;
mod get_my_runs;
mod get_plans;
mod http;
mod keeping;
pub(crate) mod mcp;
mod outside;
mod own_runs;
mod read_messages;
pub(crate) mod send_message;
mod set_goals;
mod set_memories;
mod set_plans;
mod skip_response;
mod stop_run;
pub(crate) mod toolbox;

use std::time::Duration;

use futures::future::{join_all, try_join_all};
use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::{
    Result, Time,
    ids::{MessageId, SpaceId, StreamId},
    messages::{Origin, cut, excerpt},
    runs::EndReason,
    steps::CallStatus,
};
use smartspace_store::{
    append::ByRun,
    cards::CardPlace,
    steps::{CallBegun, CallRecord, Marks, ShownPage},
};

use crate::{context::quoted::Excerpt, worker::Worker};
use outside::UnderWay;
use toolbox::{Company, Configured, Known};

/// An output for the model, in bytes.
const OUTPUT_BYTES: usize = 30 * 1024;

/// An output of a configured tool, in bytes of JSON; a longer one is cut.
const OUTPUT_MOST: usize = 32 * 1024;

/// What of a model's own words an error repeats, in characters.
const SHOWN_CHARS: usize = 500;

/// What of a schema an error repeats, in bytes.
const SCHEMA_BYTES: usize = 4_000;

/// How many of the items, from the first on, fit a result of so many bytes.
fn count_that_fit<'a>(items: impl IntoIterator<Item = &'a Value>, most: usize) -> usize {
    let mut bytes = 0;
    let fit = items.into_iter().take_while(|item| {
        bytes += item.to_string().len() + 1;
        bytes <= most
    });
    fit.count()
}

/// Whether a prompt names it among the tools that a run used. What only failed was of no use, a name that a model made up among it; and
/// speaking is told by what was said.
pub(crate) fn counts_as_used(call: &CallRecord) -> bool {
    call.status == CallStatus::Completed && call.name != send_message::NAME
}

/// How long a call may take: who has less time left does not begin it.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(15);

/// A call that is being made.
pub(crate) struct Calling<'a> {
    pub(crate) worker: &'a Worker,
    pub(crate) begun: &'a CallBegun,
    pub(crate) step: u32,
    pub(crate) index: u32,
    pub(crate) active_space: Option<SpaceId>,
    pub(crate) stream: StreamId,
    /// Tools used before in this run, each once.
    pub(crate) tools_used: Vec<String>,
    /// What is kept of it, where another worker began it outside and nobody knows its end.
    pub(crate) under_way: Option<&'a CallRecord>,
    /// Forms of the run that have no result yet.
    pub(crate) open_forms: u32,
    /// How far the run has read.
    pub(crate) marks: &'a Marks,
    pub(crate) started_at: Time,
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: CallStatus,
    pub(crate) output: Value,
    /// It ends the run.
    pub(crate) ends: Option<EndReason>,
    /// The space that is active after it.
    pub(crate) active_space: Option<SpaceId>,
    /// What it showed.
    pub(crate) mark: Option<(SpaceId, u64)>,
    /// The same where it may leave a gap below it.
    pub(crate) page: Option<ShownPage>,
    /// The message that it posted.
    pub(crate) message: Option<MessageId>,
    /// It reaches outside.
    pub(crate) outside: bool,
    /// Its card, where that was shown before its result.
    pub(crate) card: Option<CardPlace>,
    /// Its result is kept already, with its effect.
    pub(crate) kept: bool,
}

/// A call that was begun.
pub(crate) enum Begun<'a> {
    /// And is done.
    Done(Outcome),
    /// And is still to be made.
    UnderWay(UnderWay<'a>),
}

impl Outcome {
    fn completed(output: Value) -> Self {
        Self {
            status: CallStatus::Completed,
            output,
            ends: None,
            active_space: None,
            mark: None,
            page: None,
            message: None,
            outside: false,
            card: None,
            kept: false,
        }
    }

    /// A result that tells the model what was wrong. The run goes on.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { status: CallStatus::Failed, ..Self::completed(json!({"error": text.into()})) }
    }
}

impl Calling<'_> {
    /// What is kept of this call.
    fn record(&self) -> CallRecord {
        CallRecord {
            call_id: self.begun.call_id,
            step: self.step,
            index: self.index,
            name: self.begun.name.clone(),
            output: Value::Null,
            status: CallStatus::Completed,
            started_at: self.started_at,
            finished_at: self.worker.pipeline.now(),
            ends: None,
            active_space: self.active_space,
            marks: Marks::new(),
            page: None,
            said: None,
            answered: None,
            outside: false,
            repeatable: false,
            card: None,
            expires_at: None,
        }
    }

    /// Keeps what came of it.
    pub(crate) async fn keep(&self, outcome: &Outcome) -> Result<()> {
        let worker = self.worker;
        let _writing = worker.writing.lock().await;
        worker.pipeline.store.keep_call(&worker.run, &worker.lease, &self.finished(outcome), worker.pipeline.now()).await
    }

    /// What a message of this call brings along.
    fn by_run(&self, call: CallRecord) -> ByRun {
        let worker = self.worker;
        ByRun {
            run: worker.run.id,
            lease: worker.lease.clone(),
            depth: worker.run.chain_depth + 1,
            origin: Origin { trigger: worker.trigger.clone().in_short(), tools_used: self.tools_used.clone() },
            stream: self.stream,
            call: worker.with_expiry(call),
        }
    }

    /// The same with what came of it.
    pub(crate) fn finished(&self, outcome: &Outcome) -> CallRecord {
        CallRecord {
            output: outcome.output.clone(),
            status: outcome.status,
            ends: outcome.ends,
            active_space: outcome.active_space.or(self.active_space),
            marks: outcome.mark.into_iter().collect(),
            page: outcome.page,
            outside: outcome.outside,
            repeatable: outcome.outside && self.worker.tools.configured(&self.begun.name).is_some_and(Configured::may_be_repeated),
            card: outcome.card,
            ..self.record()
        }
    }
}

/// Makes calls that are neighbours, in the company that they have, and keeps what came of them.
pub(crate) async fn run(callings: &[Calling<'_>], company: Company) -> Result<Vec<Outcome>> {
    let mut begun = Vec::with_capacity(callings.len());
    if company == Company::Reading {
        begun = try_join_all(callings.iter().map(|calling| Box::pin(begin(calling)))).await?;
    } else {
        // In their written order: what is shown has one.
        for calling in callings {
            begun.push(Box::pin(begin(calling)).await?);
        }
    }
    let ended = callings.iter().zip(begun).map(async |(calling, begun)| match begun {
        Begun::UnderWay(call) => call.end().await,
        Begun::Done(outcome) if outcome.kept => Ok(outcome),
        Begun::Done(outcome) => calling.keep(&outcome).await.map(|()| outcome),
    });
    // Each to its own end: what came of one is kept, whatever becomes of another.
    join_all(ended).await.into_iter().collect()
}

/// Checks a call's input against its schema and does it; one that reaches outside is begun. What the model did wrong is a result; an error is trouble of
/// ours.
async fn begin<'a>(calling: &'a Calling<'a>) -> Result<Begun<'a>> {
    let (name, tools) = (calling.begun.name.as_str(), &calling.worker.tools);
    // Both must say so, when it began and now: its configuration may have changed since.
    if let Some(known) = calling.under_way
        && !(known.repeatable && tools.configured(name).is_some_and(Configured::may_be_repeated))
    {
        return outside::unknown(calling, known).await.map(Begun::Done);
    }
    let begun = match checked(calling) {
        Ok((Known::BuiltIn(tool), input)) => (tool.spec.call)(calling, &input).await.map(Begun::Done),
        Ok((Known::Configured(tool), input)) => Box::pin(configured::begin(calling, tool, input)).await,
        Err(text) => Ok(Begun::Done(Outcome::error(text))),
    }?;
    match (begun, calling.under_way) {
        // Its tool was changed meanwhile, or a secret is gone: it can't be made again.
        (Begun::Done(_), Some(known)) => outside::unknown(calling, known).await.map(Begun::Done),
        (begun, _) => Ok(begun),
    }
}

/// The tool that a call names, and its input as JSON; of a built-in tool, one that fits.
fn checked<'a>(calling: &Calling<'a>) -> Result<(Known<'a>, Value), String> {
    let (name, tools) = (calling.begun.name.as_str(), &calling.worker.tools);
    let Some(tool) = tools.find(name) else {
        let name = Excerpt(name, SHOWN_CHARS);
        return Err(format!("there is no tool {name}; there are {}", tools.names().join(", ")));
    };
    let schema = match &tool {
        Known::BuiltIn(tool) => &tool.spec.input,
        Known::Configured(configured) => &configured.input_schema,
    };
    let input = parse(&calling.begun.input).map_err(|error| {
        let expected = bounded_to(schema.clone(), SCHEMA_BYTES);
        format!("the input of {name} is not JSON ({error}); expected {expected}")
    })?;
    // What is configured is checked without what says where it is shown.
    if let Known::BuiltIn(built_in) = &tool
        && let Some(text) = misfit(name, built_in.validator.as_ref(), schema, &input)
    {
        return Err(text);
    }
    Ok((tool, input))
}

/// What to tell the model where its input does not fit the tool's schema.
fn misfit(name: &str, validator: Option<&Validator>, schema: &Value, input: &Value) -> Option<String> {
    let error = validator?.iter_errors(input).next()?;
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let error = error.to_string();
    let (error, place) = (excerpt(&error, SHOWN_CHARS).0, excerpt(&place, SHOWN_CHARS).0);
    let expected = bounded_to(schema.clone(), SCHEMA_BYTES);
    Some(format!("the input of {name} does not fit{place}: {error}; expected {expected}"))
}

/// An output as the model is given it: whole, or the beginning of its JSON with a note of how much is missing.
fn bounded(output: Value) -> Value {
    bounded_to(output, OUTPUT_MOST)
}

fn bounded_to(value: Value, most: usize) -> Value {
    cut(&value.to_string(), most).map_or(value, Value::String)
}

/// A call's input. Models send nothing at all for a tool without required input.
fn parse(input: &str) -> Result<Value, serde_json::Error> {
    if input.trim().is_empty() { Ok(json!({})) } else { smartspace_domain::json::parse(input) }
}

/// A text of an input that its schema requires.
fn text_of<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or("")
}
