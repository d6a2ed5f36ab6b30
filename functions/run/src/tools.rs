//! What an agent can do. Built-in tools are a file each; [`run`] checks a call's input and does it.

mod delete_goals;
mod delete_memories;
mod enter_space;
mod get_memories;
mod get_my_runs;
mod keeping;
mod read_messages;
pub(crate) mod send_message;
mod set_goals;
mod set_memories;
mod skip_response;

use std::{sync::LazyLock, time::Duration};

use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::{
    Result, Time,
    ids::{MessageId, SpaceId, StreamId},
    messages::excerpt,
    runs::EndReason,
    steps::CallStatus,
};
use smartspace_models::port::ToolSpec;
use smartspace_store::steps::{CallBegun, CallRecord, Marks, ShownPage};

use crate::{context::quoted::Excerpt, worker::Worker};

/// An output for the model, in bytes.
const OUTPUT_BYTES: usize = 30 * 1024;

/// What of a model's own words an error repeats, in characters.
const SHOWN_CHARS: usize = 500;

/// How many of the items, from the first on, fit a result of so many bytes.
fn count_that_fit<'a>(items: impl IntoIterator<Item = &'a Value>, most: usize) -> usize {
    let mut bytes = 0;
    let fit = items.into_iter().take_while(|item| {
        bytes += item.to_string().len() + 1;
        bytes <= most
    });
    fit.count()
}

/// A built-in tool.
struct Spec {
    name: &'static str,
    description: &'static str,
    input: Value,
    /// It changes nothing that others see.
    read_only: bool,
    /// After it another space may be active.
    changes_space: bool,
    /// Neighbours of this kind are called side by side: it makes no difference which is first.
    side_by_side: bool,
}

struct Checked {
    spec: Spec,
    validator: Option<Validator>,
}

/// Sorted by name, as models are told of them.
static TOOLS: LazyLock<Vec<Checked>> = LazyLock::new(|| {
    let specs = [
        delete_goals::spec(),
        delete_memories::spec(),
        enter_space::spec(),
        get_memories::spec(),
        get_my_runs::spec(),
        read_messages::spec(),
        send_message::spec(),
        set_goals::spec(),
        set_memories::spec(),
        skip_response::spec(),
    ];
    specs.map(|spec| Checked { validator: jsonschema::validator_for(&spec.input).ok(), spec }).into()
});

fn tool(name: &str) -> Option<&'static Checked> {
    TOOLS.iter().find(|tool| tool.spec.name == name)
}

/// All tools, as models are told of them.
pub(crate) fn specs() -> Vec<ToolSpec> {
    let spec = |tool: &Checked| ToolSpec {
        name: tool.spec.name.to_owned(),
        description: tool.spec.description.to_owned(),
        input_schema: tool.spec.input.clone(),
    };
    TOOLS.iter().map(spec).collect()
}

/// Whether there is such a tool.
pub(crate) fn is_known(name: &str) -> bool {
    tool(name).is_some()
}

/// Whether a prompt names it among the tools that a run used. A name that a model made up is no tool, and speaking is told by what was said.
/// What only failed was of no use.
pub(crate) fn counts_as_used(call: &CallRecord) -> bool {
    call.status == CallStatus::Completed && call.name != send_message::NAME && is_known(&call.name)
}

/// Whether neighbouring calls of this tool and others like it are made side by side.
pub(crate) fn is_side_by_side(name: &str) -> bool {
    tool(name).is_some_and(|tool| tool.spec.side_by_side)
}

/// How long a call may take: who has less time left does not begin it.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(15);

/// Whether after this tool another space may be active.
pub(crate) fn changes_space(name: &str) -> bool {
    tool(name).is_some_and(|tool| tool.spec.changes_space)
}

/// Whether this tool changes nothing. An unknown one changes nothing either.
pub(crate) fn is_read_only(name: &str) -> bool {
    tool(name).is_none_or(|tool| tool.spec.read_only)
}

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
    /// Its result is kept already, with its effect.
    pub(crate) kept: bool,
}

impl Outcome {
    fn completed(output: Value) -> Self {
        Self { status: CallStatus::Completed, output, ends: None, active_space: None, mark: None, page: None, message: None, kept: false }
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
            expires_at: None,
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
            ..self.record()
        }
    }
}

/// Checks a call's input against its schema and does it. What the model did wrong is a result; an error is trouble of ours.
pub(crate) async fn run(calling: &Calling<'_>) -> Result<Outcome> {
    let name = calling.begun.name.as_str();
    let Some(tool) = tool(name) else {
        let known: Vec<_> = TOOLS.iter().map(|tool| tool.spec.name).collect();
        let name = Excerpt(name, SHOWN_CHARS);
        return Ok(Outcome::error(format!("there is no tool {name}; there are {}", known.join(", "))));
    };
    let input = match parse(&calling.begun.input) {
        Ok(input) => input,
        Err(error) => return Ok(Outcome::error(format!("the input of {name} is not JSON ({error}); expected {}", tool.spec.input))),
    };
    if let Some(error) = tool.validator.as_ref().and_then(|validator| validator.iter_errors(&input).next()) {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
        let error = error.to_string();
        let (error, place) = (excerpt(&error, SHOWN_CHARS).0, excerpt(&place, SHOWN_CHARS).0);
        return Ok(Outcome::error(format!("the input of {name} does not fit{place}: {error}; expected {}", tool.spec.input)));
    }
    match name {
        send_message::NAME => send_message::call(calling, &input).await,
        enter_space::NAME => enter_space::call(calling, &input).await,
        get_my_runs::NAME => Box::pin(get_my_runs::call(calling, &input)).await,
        read_messages::NAME => Box::pin(read_messages::call(calling, &input)).await,
        skip_response::NAME => Ok(skip_response::call()),
        set_memories::NAME => Box::pin(set_memories::call(calling, &input)).await,
        get_memories::NAME => get_memories::call(calling, &input).await,
        delete_memories::NAME => Box::pin(delete_memories::call(calling, &input)).await,
        set_goals::NAME => Box::pin(set_goals::call(calling, &input)).await,
        delete_goals::NAME => Box::pin(delete_goals::call(calling, &input)).await,
        _ => Ok(Outcome::error(format!("the tool {name} can't be used here"))),
    }
}

/// A call's input. Models send nothing at all for a tool without required input.
fn parse(input: &str) -> Result<Value, serde_json::Error> {
    if input.trim().is_empty() { Ok(json!({})) } else { serde_json::from_str(input) }
}

/// A text of an input that its schema requires.
fn text_of<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_sorted_and_their_schemas_hold() {
        assert!(TOOLS.is_sorted_by_key(|tool| tool.spec.name));
        assert!(TOOLS.iter().all(|tool| tool.validator.is_some()));
        assert!(TOOLS.iter().all(|tool| smartspace_domain::tools::BUILT_IN.contains(&tool.spec.name)));
    }
}
