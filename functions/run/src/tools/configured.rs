//! Tools of an agent's configuration, those of its MCP servers, and those of a member's page.

mod call_response;
pub(crate) mod card;
mod compute;
pub(crate) mod external_call;
mod form;
mod image;
pub(crate) mod mcp;
pub(crate) mod page;
pub(crate) mod target;

use std::{sync::OnceLock, time::Duration};

use async_trait::async_trait;
use jsonschema::Validator;
use serde_json::Value;
use smartspace_domain::{
    Result,
    ids::{EntityId, SpaceId},
    limits::FORM_OPEN_FOR,
    tools::{Execution, SCRIPTED_IMAGE_MODEL, Tool as ToolConfig, image_input},
};
use smartspace_egress::http_tool::HttpTool;
use smartspace_models::port::DRAWING_LIMIT;

use crate::{
    run_context::trace_context,
    tools::{
        calling::{Calling, Outcome},
        configured::{
            card::CardOutcome,
            compute::evaluate,
            external_call::Request,
            form::{Form, ask},
            image::ImageTool,
            mcp::McpTool,
            page::call_page,
        },
        input::schema_error,
        output::bounded,
        tool::{CardTarget, Concurrency, Spec, StartedCall, TIME_LIMIT, Tool},
    },
};

/// A tool of the agent's configuration, of one of its MCP servers, or of a member's page.
pub(crate) struct Configured {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    /// Its calls are shown as cards.
    pub(crate) is_visible: bool,
    pub(crate) is_read_only: bool,
    pub(crate) is_idempotent: bool,
    /// The space of its cards, if that is not the active one.
    pub(crate) target: Option<SpaceId>,
    pub(crate) kind: ToolKind,
    pub(crate) validator: OnceLock<Option<Validator>>,
}

/// The effect of a call of a configured tool.
pub(crate) enum ToolKind {
    /// It shows a form that people answer.
    Form(Form),
    Static(Value),
    Compute(String),
    Http(HttpTool),
    Mcp(McpTool),
    Image(ImageTool),
    /// The client of this member runs it.
    Page(EntityId),
}

impl From<&ToolConfig> for Configured {
    fn from(tool: &ToolConfig) -> Self {
        let kind = match tool.execution.clone() {
            Execution::Space { ui, result_schema, expires_after, answer_by } => {
                let waits = expires_after.map_or(FORM_OPEN_FOR, |after| after.length());
                ToolKind::Form(Form { ui, result_schema, waits, answer_by })
            }
            Execution::Static { output } => ToolKind::Static(output),
            Execution::Compute { expression } => ToolKind::Compute(expression),
            Execution::Image { provider, model, size } => {
                let model = model.unwrap_or_else(|| SCRIPTED_IMAGE_MODEL.to_owned());
                ToolKind::Image(ImageTool { provider, model, size })
            }
            Execution::Http { method, url, headers, body, timeout_ms } => {
                let limit = Duration::from_millis(u64::from(timeout_ms));
                ToolKind::Http(HttpTool { method, url, headers, body, limit })
            }
        };
        let draws = matches!(kind, ToolKind::Image(_));
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: if draws { image_input() } else { tool.input_schema.clone() },
            is_visible: tool.visible || draws || matches!(kind, ToolKind::Form(_)),
            is_read_only: tool.read_only,
            is_idempotent: tool.idempotent,
            target: tool.target_space_id,
            kind,
            validator: OnceLock::new(),
        }
    }
}

impl Configured {
    /// Checks inputs. `None` if the schema is invalid, or if only the MCP server or the page checks
    /// it.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        let make = || match self.kind {
            ToolKind::Mcp(_) | ToolKind::Page(_) => mcp::validator(&self.input_schema),
            _ => jsonschema::validator_for(&self.input_schema).ok(),
        };
        self.validator.get_or_init(make).as_ref()
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
            group: None,
        }
    }

    fn concurrency(&self) -> Concurrency {
        match self.kind {
            ToolKind::Compute(_) | ToolKind::Http(_) | ToolKind::Mcp(_) | ToolKind::Image(_) => {
                Concurrency::External
            }
            ToolKind::Form(_) | ToolKind::Static(_) | ToolKind::Page(_) => Concurrency::Alone,
        }
    }

    async fn call<'a>(&'a self, calling: &'a Calling<'a>, input: Value) -> Result<StartedCall<'a>> {
        let (space, input) =
            match self.checked(calling.approved_in().or(calling.active_space), input) {
                Ok((space, input)) => (space.filter(|_| self.is_visible), input),
                Err(text) => return Ok(StartedCall::Done(Outcome::error(text))),
            };
        // The request, or else the outcome.
        let request = match &self.kind {
            ToolKind::Form(form) => {
                return ask(calling, space, input, form).await.map(StartedCall::Done);
            }
            ToolKind::Page(member) => {
                return call_page(calling, space, input, *member).await.map(StartedCall::Done);
            }
            ToolKind::Static(output) => Err(Outcome::completed(bounded(output.clone()))),
            ToolKind::Compute(expression) => Err(evaluate(expression, &input)),
            ToolKind::Http(http) => http
                .request(
                    &calling.context.egress,
                    trace_context(&calling.context.run).headers(calling.begun.call_id),
                    &input,
                    self.is_idempotent,
                )
                .await
                .map(|request| Request::Http(Box::new(request)))
                .map_err(Outcome::error),
            ToolKind::Image(image) => {
                image.request(calling, &input).map(Request::Image).map_err(Outcome::error)
            }
            ToolKind::Mcp(mcp) => Ok(Request::Mcp(mcp, input.clone())),
        };
        let outcome = match request {
            Ok(request) => {
                let visible = space.map(|space| (space, input));
                return external_call::begin(calling, request, visible).await;
            }
            Err(outcome) => outcome,
        };
        // The card is posted already if people have approved the call, or if another worker began
        // it.
        let is_shown = calling.under_way.is_some() || calling.approved.is_some();
        let Some(space) = space.filter(|_| !is_shown) else {
            return Ok(StartedCall::Done(outcome));
        };
        Ok(StartedCall::Done(match calling.post_card(space, input, outcome, None).await? {
            CardOutcome::Posted(_, outcome) | CardOutcome::Refused(outcome) => outcome,
        }))
    }

    /// The schema holds for the input without [`target::TARGET`].
    fn own_schema(&self) -> Option<&Value> {
        Some(&self.input_schema)
    }

    fn time_limit(&self) -> Duration {
        match &self.kind {
            ToolKind::Http(http) => http.limit + TIME_LIMIT,
            ToolKind::Mcp(mcp) => mcp.limit + TIME_LIMIT,
            ToolKind::Image(_) => DRAWING_LIMIT + TIME_LIMIT,
            _ => TIME_LIMIT,
        }
    }

    fn is_repeatable(&self) -> bool {
        self.is_idempotent && matches!(self.kind, ToolKind::Http(_) | ToolKind::Mcp(_))
    }

    fn card(&self) -> Option<CardTarget> {
        let target = CardTarget { space: self.target, is_chosen_by_model: self.takes_target() };
        self.is_visible.then_some(target)
    }

    fn whole_name(&self) -> Option<&str> {
        match &self.kind {
            ToolKind::Mcp(mcp) => mcp.whole_name(),
            _ => None,
        }
    }

    fn checked(
        &self,
        active: Option<SpaceId>,
        input: Value,
    ) -> Result<(Option<SpaceId>, Value), String> {
        let (space, input) = if self.is_visible {
            self.shown_in(active, input).map(|(space, input)| (Some(space), input))?
        } else {
            (active, input)
        };
        match schema_error(&self.name, self.validator(), &self.input_schema, &input) {
            Some(text) => Err(text),
            None => Ok((space, input)),
        }
    }
}
