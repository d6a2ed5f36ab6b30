//! The spans of a run: one for the run, and below it one for each answer of a model and each call
//! of a tool. Their ids follow from the ids of the run and its calls, so a run that another one
//! woke hangs below the call that did so, whichever of the two is exported first.

use serde_json::{Map, Value, json};
use smartspace_domain::{
    Time,
    entities::Entity,
    ids::SpaceId,
    runs::{Run, RunStatus},
    steps::{Call, CallStatus, FinishReason, ResponseOrigin, Step},
    usage::Usage,
};
use smartspace_ports::trace::{TraceParent, span_of};

use crate::traces::{content, names};

/// `SPAN_KIND_INTERNAL` and `SPAN_KIND_CLIENT` of
/// <https://github.com/open-telemetry/opentelemetry-proto>.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// A run that is exported.
pub(super) struct Exported<'a> {
    pub(super) run: &'a Run,
    /// The space in which it was woken, or else the one that it has entered.
    pub(super) space: Option<SpaceId>,
    pub(super) steps: &'a [Step],
    /// `None` if it was removed.
    pub(super) agent: Option<&'a Entity>,
    pub(super) trace: &'a TraceParent,
    pub(super) has_content: bool,
}

/// The request that exports a run: an `ExportTraceServiceRequest` of OTLP as JSON.
pub(super) fn request(service: &str, exported: &Exported<'_>) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let mut resource = Attributes::default();
    resource.add(names::SERVICE_NAME, service);
    resource.add(names::SERVICE_VERSION, version);
    json!({"resourceSpans": [{
        "resource": {"attributes": resource.0},
        "scopeSpans": [{
            "scope": {"name": "smartspace", "version": version},
            "spans": exported.spans(),
        }],
    }]})
}

/// A span without what all spans of a run share.
struct Span {
    id: u64,
    parent: Option<u64>,
    name: String,
    kind: u8,
    from: Time,
    to: Time,
    attributes: Attributes,
    /// What went wrong: a code, and words for people.
    error: Option<(String, String)>,
}

#[derive(Default)]
struct Attributes(Vec<Value>);

impl Attributes {
    fn add(&mut self, name: &str, value: impl Into<Value>) {
        let value = match value.into() {
            Value::Null => return,
            // As a text, because numbers of JSON may be less exact.
            Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
            Value::Number(number) => json!({"intValue": number.to_string()}),
            Value::Array(texts) => {
                let values: Vec<_> =
                    texts.into_iter().map(|text| json!({"stringValue": text})).collect();
                json!({"arrayValue": {"values": values}})
            }
            Value::String(text) => json!({"stringValue": text}),
            other @ (Value::Bool(_) | Value::Object(_)) => {
                json!({"stringValue": other.to_string()})
            }
        };
        self.0.push(json!({"key": name, "value": value}));
    }

    fn add_usage(&mut self, usage: &Usage) {
        self.add(names::INPUT_TOKENS, usage.input_tokens);
        self.add(names::OUTPUT_TOKENS, usage.output_tokens);
        self.add(names::CACHE_READ_TOKENS, usage.cached_tokens);
        self.add(names::CACHE_WRITE_TOKENS, usage.cache_write_tokens);
        self.add(names::COST, usage.cost);
    }

    /// Adds the model with this name, `provider/model`.
    fn add_model(&mut self, full_name: &str) {
        let (provider, model) = split(full_name);
        if !provider.is_empty() {
            self.add(names::PROVIDER, names::provider(provider));
        }
        self.add(names::REQUEST_MODEL, model);
    }
}

/// The provider and the model of a name `provider/model`.
fn split(full_name: &str) -> (&str, &str) {
    full_name.split_once('/').unwrap_or(("", full_name))
}

impl Exported<'_> {
    fn spans(&self) -> Vec<Value> {
        let mut spans = vec![self.of_run()];
        for step in self.steps {
            // Nothing is known of the models of a remote agent.
            spans.extend(self.of_step(step).filter(|_| !self.run.remote));
            spans.extend(step.calls.iter().map(|call| self.of_call(step, call)));
        }
        spans.into_iter().map(|span| self.written(span)).collect()
    }

    /// The attributes of every span of the run.
    fn attributes(&self, operation: &str) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.add(names::OPERATION, operation);
        attributes.add(names::CONVERSATION, self.space.map(|space| space.to_string()));
        attributes.add(names::AGENT_ID, self.run.agent_id.to_string());
        attributes.add(names::AGENT_NAME, self.agent.map(|agent| agent.name.clone()));
        attributes.add(names::RUN_ID, self.run.id.to_string());
        attributes
    }

    fn of_run(&self) -> Span {
        let Run { id, agent_id, status, .. } = *self.run;
        let from = self.run.started_at.unwrap_or(self.run.created_at);
        let mut attributes = self.attributes(names::INVOKE_AGENT);
        if let Some(config) = self.agent.and_then(|agent| agent.agent.as_ref()) {
            attributes.add(
                names::AGENT_DESCRIPTION,
                Some(config.description.clone()).filter(|text| !text.is_empty()),
            );
            if let Some(model) = &config.model {
                attributes.add_model(&model.full_name());
            }
        }
        if let Some(usage) = &self.run.usage {
            attributes.add_usage(usage);
        }
        attributes.add(names::RUN_STATUS, status.as_str());
        attributes.add(names::RUN_END_REASON, json!(self.run.end_reason));
        attributes.add(names::RUN_ATTEMPT, self.run.attempt);
        attributes.add(names::RUN_TRIGGER, self.run.trigger.kind().as_str());
        attributes.add(names::CHAIN_DEPTH, self.run.chain_depth);
        attributes.add(names::QUEUED_MS, from.since(self.run.created_at).as_millis() as u64);
        let name = self.agent.map_or_else(|| agent_id.to_string(), |agent| agent.name.clone());
        let error = self
            .error()
            .or_else(|| (status == RunStatus::Failed).then(|| ("failed".into(), String::new())));
        Span {
            id: span_of(&id.to_string()),
            parent: self.trace.parent_span(),
            name: format!("{} {name}", names::INVOKE_AGENT),
            kind: INTERNAL,
            from,
            to: self.run.finished_at.unwrap_or(from),
            attributes,
            error,
        }
    }

    /// Why the run failed.
    fn error(&self) -> Option<(String, String)> {
        let error = self.run.error.as_ref()?;
        let code = json!(error.code).as_str().unwrap_or_default().to_owned();
        Some((code, error.message.clone()))
    }

    /// The answer of a model. `None` while it writes.
    fn of_step(&self, step: &Step) -> Option<Span> {
        let to = step.finished_at?;
        let mut attributes = self.attributes(names::CHAT);
        attributes.add_model(&step.model);
        let ResponseOrigin { response_id, response_model, server } = step.origin.clone();
        attributes.add(names::RESPONSE_ID, response_id);
        attributes.add(names::RESPONSE_MODEL, response_model);
        attributes.add(names::SERVER_ADDRESS, server);
        attributes.add_usage(&step.usage);
        let reason = step.finish_reason.map(content::finish_reason);
        attributes.add(names::FINISH_REASONS, reason.map(|reason| json!([reason])));
        let first = step.first_token_at.map(|at| at.since(step.started_at).as_millis() as u64);
        attributes.add(names::FIRST_TOKEN_MS, first);
        if self.has_content {
            attributes.add(names::SYSTEM_INSTRUCTIONS, content::instructions(&step.prompt));
            attributes.add(names::INPUT_MESSAGES, content::input(&step.prompt));
            attributes.add(names::OUTPUT_MESSAGES, content::output(step));
        }
        let model = split(&step.model).1;
        let is_failed = step.finish_reason == Some(FinishReason::Error);
        let unknown = || ("error".into(), "the model did not answer".into());
        Some(Span {
            id: span_of(&format!("{}|{}", self.run.id, step.index)),
            parent: Some(span_of(&self.run.id.to_string())),
            name: format!("{} {model}", names::CHAT),
            kind: CLIENT,
            from: step.started_at,
            to,
            attributes,
            error: is_failed.then(|| self.error().unwrap_or_else(unknown)),
        })
    }

    fn of_call(&self, step: &Step, call: &Call) -> Span {
        let from = call.started_at.or(step.finished_at).unwrap_or(step.started_at);
        // A name that the model has made up is a text of the model.
        let is_known = step.tools.is_empty() || step.tools.contains(&call.name);
        let tool = if is_known { call.name.as_str() } else { "unknown" };
        let mut attributes = self.attributes(names::EXECUTE_TOOL);
        attributes.add(names::TOOL_NAME, tool);
        attributes.add(names::TOOL_DESCRIPTION, self.description_of(tool));
        attributes.add(names::TOOL_TYPE, "function");
        attributes.add(names::TOOL_CALL_ID, call.call_id.to_string());
        if self.has_content {
            attributes.add(names::TOOL_ARGUMENTS, content::text_of(&call.input));
            attributes.add(names::TOOL_RESULT, call.output.as_ref().map(content::text_of));
        }
        let is_done = call.status == CallStatus::Completed;
        Span {
            id: span_of(&call.call_id.to_string()),
            parent: Some(span_of(&self.run.id.to_string())),
            name: format!("{} {tool}", names::EXECUTE_TOOL),
            kind: INTERNAL,
            from,
            to: call.finished_at.or(self.run.finished_at).unwrap_or(from).max(from),
            attributes,
            error: (!is_done).then(|| (call.status.as_str().to_owned(), String::new())),
        }
    }

    /// The description of a configured tool. `None` if it has none, and for all other tools.
    fn description_of(&self, tool: &str) -> Option<String> {
        let config = self.agent?.agent.as_ref()?;
        let tool = config.tools.iter().find(|configured| configured.name == tool)?;
        Some(tool.description.clone()).filter(|text| !text.is_empty())
    }

    fn written(&self, span: Span) -> Value {
        let Span { id, parent, name, kind, from, to, mut attributes, error } = span;
        let nanos = |time: Time| format!("{}000000", time.as_millis());
        let mut status = Map::new();
        if let Some((code, words)) = error {
            attributes.add(names::ERROR_TYPE, code);
            status.insert("code".into(), ERROR.into());
            // A provider may quote the prompt.
            if self.has_content && !words.is_empty() {
                status.insert("message".into(), words.into());
            }
        }
        let mut written = json!({
            "traceId": self.trace.trace_id(),
            "spanId": format!("{id:016x}"),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": nanos(from),
            "endTimeUnixNano": nanos(to.max(from)),
            "attributes": attributes.0,
            "status": status,
        });
        if let Some(parent) = parent {
            written["parentSpanId"] = json!(format!("{parent:016x}"));
        }
        written
    }
}

#[cfg(test)]
mod tests;
