//! Tools of an agent's configuration, and those of its MCP servers.

pub(crate) mod card;
pub(crate) mod external_call;
pub(crate) mod http;
pub(crate) mod mcp;

use std::{sync::OnceLock, time::Duration};

use async_trait::async_trait;
use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    events::{AskedCall, EventKind},
    forms::answer_schema,
    ids::SpaceId,
    limits::{FORM_WAITS, OPEN_FORMS},
    steps::CallStatus,
    tools::{AnswerBy, Execution, Tool as ToolConfig},
};
use smartspace_store::messages::append::NewForm;

use crate::tools::{
    calling::{Calling, Outcome},
    configured::{card::Posted, external_call::Request, http::HttpTool, mcp::McpTool},
    output::{bounded, misfit},
    tool::{CardTarget, Concurrency, Spec, StartedCall, TIME_LIMIT, Tool},
};

/// An extra input of visible tools: the space for the card, if not the active one. It is removed
/// before the call.
pub(crate) const TARGET: &str = "targetSpaceId";

/// A tool of the agent's configuration, or of one of its MCP servers.
pub(crate) struct Configured {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    /// Its calls are shown as cards.
    pub(crate) is_visible: bool,
    pub(crate) is_read_only: bool,
    pub(crate) is_idempotent: bool,
    /// Where its cards go instead of the active space.
    pub(crate) target: Option<SpaceId>,
    pub(crate) does: ToolKind,
    pub(crate) validator: OnceLock<Option<Validator>>,
}

/// What a call of a configured tool does.
pub(crate) enum ToolKind {
    /// Shows a form, and people answer.
    Ask(Form),
    /// Returns this value.
    Say(Value),
    /// Evaluates this expression.
    Compute(String),
    /// Sends a request.
    Http(HttpTool),
    /// Calls a tool of an MCP server.
    Mcp(McpTool),
}

/// What a form shows, and who answers it.
pub(crate) struct Form {
    pub(crate) ui: String,
    pub(crate) result_schema: Option<Value>,
    pub(crate) waits: Duration,
    pub(crate) answer_by: AnswerBy,
}

impl From<&ToolConfig> for Configured {
    fn from(tool: &ToolConfig) -> Self {
        let does = match tool.execution.clone() {
            Execution::Space { ui, result_schema, expires_after, answer_by } => {
                let waits = expires_after.map_or(FORM_WAITS, |after| after.length());
                ToolKind::Ask(Form { ui, result_schema, waits, answer_by })
            }
            Execution::Static { output } => ToolKind::Say(output),
            Execution::Compute { expression } => ToolKind::Compute(expression),
            Execution::Http { method, url, headers, body, timeout_ms } => {
                let limit = Duration::from_millis(u64::from(timeout_ms));
                ToolKind::Http(HttpTool { method, url, headers, body, limit })
            }
        };
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            is_visible: tool.visible || matches!(does, ToolKind::Ask(_)),
            is_read_only: tool.read_only,
            is_idempotent: tool.idempotent,
            target: tool.target_space_id,
            does,
            validator: OnceLock::new(),
        }
    }
}

impl Configured {
    /// Whether the model may choose the space of the card. It may not if the tool has an input of
    /// that name itself.
    pub(crate) fn takes_target(&self) -> bool {
        let properties = self.input_schema.get("properties");
        self.is_visible
            && self.input_schema.is_object()
            && properties.is_none_or(|properties| properties.get(TARGET).is_none())
    }

    /// Checks inputs. `None` if the schema is invalid, or if only the MCP server checks it.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        let make = || match self.does {
            ToolKind::Mcp(_) => mcp::validator(&self.input_schema),
            _ => jsonschema::validator_for(&self.input_schema).ok(),
        };
        self.validator.get_or_init(make).as_ref()
    }

    /// The input schema as models read it: with [`TARGET`], if they may choose.
    fn offered_schema(&self) -> Value {
        let mut input_schema = self.input_schema.clone();
        if self.takes_target()
            && let Some(schema) = input_schema.as_object_mut()
        {
            schema.entry("type").or_insert_with(|| json!("object"));
            let about = "The id of another space of yours where this is to be shown, instead of the active one. Write it first.";
            if let Some(properties) =
                schema.entry("properties").or_insert_with(|| json!({})).as_object_mut()
            {
                properties
                    .insert(TARGET.to_owned(), json!({"type": "string", "description": about}));
            }
        }
        input_schema
    }
}

#[async_trait]
impl Tool for Configured {
    fn spec(&self) -> Spec {
        Spec {
            name: self.name.clone().into(),
            description: self.description.clone().into(),
            input: self.offered_schema(),
            read_only: self.is_read_only,
            changes_space: false,
        }
    }

    fn concurrency(&self) -> Concurrency {
        match self.does {
            ToolKind::Compute(_) | ToolKind::Http(_) | ToolKind::Mcp(_) => Concurrency::Outside,
            ToolKind::Ask(_) | ToolKind::Say(_) => Concurrency::Alone,
        }
    }

    async fn call<'a>(&'a self, calling: &'a Calling<'a>, input: Value) -> Result<StartedCall<'a>> {
        let (space, input) = if self.is_visible {
            match calling.shown_in(self, input) {
                Ok((space, input)) => (Some(space), input),
                Err(text) => return Ok(StartedCall::Done(Outcome::error(text))),
            }
        } else {
            (None, input)
        };
        if let Some(text) = misfit(&self.name, self.validator(), &self.input_schema, &input) {
            return Ok(StartedCall::Done(Outcome::error(text)));
        }
        let outcome = match &self.does {
            ToolKind::Ask(form) => {
                return ask(calling, space, input, form).await.map(StartedCall::Done);
            }
            ToolKind::Say(output) => Outcome::completed(bounded(output.clone())),
            ToolKind::Compute(expression) => compute(expression, &input),
            ToolKind::Http(http) => match http.request(calling, &input, self.is_idempotent).await {
                Ok(request) => {
                    return external_call::begin(
                        calling,
                        Request::Http(Box::new(request)),
                        space.map(|space| (space, input)),
                    )
                    .await;
                }
                Err(text) => Outcome::error(text),
            },
            ToolKind::Mcp(mcp) => {
                let request = Request::Mcp(mcp, input.clone());
                return external_call::begin(calling, request, space.map(|space| (space, input)))
                    .await;
            }
        };
        // A call that has begun has its card already.
        let Some(space) = space.filter(|_| calling.under_way.is_none()) else {
            return Ok(StartedCall::Done(outcome));
        };
        Ok(StartedCall::Done(match calling.post_card(space, input, outcome, None).await? {
            Posted::Yes(_, outcome) | Posted::No(outcome) => outcome,
        }))
    }

    /// The schema holds for the input without [`TARGET`].
    fn own_schema(&self) -> Option<&Value> {
        Some(&self.input_schema)
    }

    fn time_limit(&self) -> Duration {
        match &self.does {
            ToolKind::Http(http) => http.limit + TIME_LIMIT,
            ToolKind::Mcp(mcp) => mcp.limit + TIME_LIMIT,
            _ => TIME_LIMIT,
        }
    }

    fn is_repeatable(&self) -> bool {
        self.is_idempotent && matches!(self.does, ToolKind::Http(_) | ToolKind::Mcp(_))
    }

    fn card(&self) -> Option<CardTarget> {
        let target = CardTarget { space: self.target, is_chosen_by_model: self.takes_target() };
        self.is_visible.then_some(target)
    }
}

/// The largest input of an expression, in bytes of JSON. It bounds time and memory.
const COMPUTED_BYTES: usize = 64 * 1024;

fn compute(expression: &str, input: &Value) -> Outcome {
    if input.to_string().len() > COMPUTED_BYTES {
        return Outcome::error(format!(
            "the input is too long to compute with; expected at most {COMPUTED_BYTES} bytes"
        ));
    }
    match smartspace_cel::evaluate(expression, input) {
        Ok(output) => Outcome::completed(bounded(output)),
        Err(error) => Outcome::error(error),
    }
}

/// Shows a form. The run waits for its result after all other calls of the same answer are done.
async fn ask(
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
    let form =
        NewForm { ui: form.ui.clone(), result_schema, answer_by: form.answer_by.clone(), until };
    let open = Outcome { status: CallStatus::Pending, ..Outcome::completed(Value::Null) };
    match calling.post_card(space, input, open, Some(form)).await? {
        Posted::Yes(card, outcome) => {
            if let Some(asked) = AskedCall::of(&card) {
                calling
                    .context
                    .pipeline
                    .announce(space, EventKind::ToolRequested(Box::new(asked)))
                    .await;
            }
            Ok(outcome)
        }
        Posted::No(outcome) => Ok(outcome),
    }
}
