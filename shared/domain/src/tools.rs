//! Tools that an agent's configuration brings. Built-in ones live with the run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;

use crate::{
    durations::WrittenDuration,
    errors::Faults,
    ids::{EntityId, SpaceId},
    schemas,
    templates::{self, Place},
};

/// People that a form may name.
const ANSWERERS: usize = 100;

/// A request's body as it is configured, in bytes of JSON.
const BODY_BYTES: usize = 64 * 1024;

/// Headers that no configuration sets: they belong to the connection, or are what a call is known by.
const OUR_HEADERS: [&str; 13] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-authorization",
    "smartspace-chain-depth",
    "te",
    "traceparent",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Names that configured tools can't take.
pub const BUILT_IN: [&str; 16] = [
    "absorb_run",
    "delegate",
    "delete_goals",
    "delete_memories",
    "delete_plans",
    "enter_space",
    "get_memories",
    "get_my_runs",
    "get_plans",
    "read_messages",
    "send_message",
    "set_goals",
    "set_memories",
    "set_plans",
    "skip_response",
    "stop_run",
];

/// A tool of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tool {
    /// `[A-Za-z_][A-Za-z0-9_]{0,63}`, not a built-in's.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
    pub name: String,
    /// What the model is told of it.
    #[schema(max_length = 4096)]
    pub description: String,
    /// JSON Schema of its input.
    #[schema(schema_with = schemas::json_schema)]
    pub input_schema: Value,
    /// Whether its calls are posted as cards.
    #[serde(default)]
    #[schema(default = false)]
    pub visible: bool,
    /// It changes nothing.
    #[serde(default)]
    #[schema(default = false)]
    pub read_only: bool,
    /// It may be repeated.
    #[serde(default)]
    #[schema(default = false)]
    pub idempotent: bool,
    /// Where its card goes instead of the active space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_space_id: Option<SpaceId>,
    /// How it runs.
    pub execution: Execution,
}

/// How a tool runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Execution {
    /// A request.
    #[schema(rename_all = "camelCase")]
    Http {
        /// GET, POST, PUT, PATCH or DELETE.
        #[schema(pattern = "^(GET|POST|PUT|PATCH|DELETE)$")]
        method: String,
        /// Where; `{{input.x}}` is filled in behind the host.
        #[schema(schema_with = schemas::url)]
        url: String,
        /// Sent with it.
        #[serde(default)]
        #[schema(value_type = BTreeMap<schemas::HeaderName, schemas::HeaderValue>)]
        headers: BTreeMap<String, String>,
        /// Sent as JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
        /// How long it may take.
        #[serde(default = "http_timeout")]
        #[schema(default = http_timeout, minimum = 1, maximum = 300_000)]
        timeout_ms: u32,
    },
    /// In the browser, answered by people.
    #[schema(rename_all = "camelCase")]
    Space {
        /// `form`, `buttons`, or a component that the client knows.
        #[serde(default = "form")]
        #[schema(default = form, min_length = 1, max_length = 64)]
        ui: String,
        /// JSON Schema of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(schema_with = schemas::json_schema_or_null)]
        result_schema: Option<Value>,
        /// How long it may wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_after: Option<WrittenDuration>,
        /// Who may answer.
        #[serde(default)]
        #[schema(default = AnswerBy::default)]
        answer_by: AnswerBy,
    },
    /// A CEL expression over the input.
    Compute {
        /// The expression.
        #[schema(min_length = 1, max_length = 8192)]
        expression: String,
    },
    /// Nothing: returns `output`.
    Static {
        /// What it returns.
        output: Value,
    },
}

fn http_timeout() -> u32 {
    10_000
}

fn form() -> String {
    "form".to_owned()
}

/// Who may answer a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected humans, anyone, or a list of ids")]
pub enum AnswerBy {
    /// `humans` or `anyone`.
    Group(AnswerGroup),
    /// Those named.
    Entities(Vec<EntityId>),
}

impl Default for AnswerBy {
    fn default() -> Self {
        Self::Group(AnswerGroup::Humans)
    }
}

/// A group that may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerGroup {
    /// People of the space.
    Humans,
    /// Every member of the space.
    Anyone,
}

/// MCP servers of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpConfig {
    /// The servers.
    #[serde(default)]
    #[schema(max_items = 10)]
    pub servers: Vec<McpServer>,
}

/// One MCP server over streamable HTTP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpServer {
    /// Stands before its tools' names, with two underscores between them: so it has no two of its own, and none at its end.
    #[schema(pattern = "^_?[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$", max_length = 64)]
    pub name: String,
    /// Where it is.
    #[schema(schema_with = schemas::url)]
    pub url: String,
    /// Sent with each request.
    #[serde(default)]
    #[schema(value_type = BTreeMap<schemas::HeaderName, schemas::HeaderValue>)]
    pub headers: BTreeMap<String, String>,
    /// Whether calls of its tools are posted as cards, with what the server says while it works.
    #[serde(default)]
    #[schema(default = false)]
    pub visible: bool,
    /// Only these; all where not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// How long a call may take.
    #[serde(default = "mcp_timeout")]
    #[schema(default = mcp_timeout, minimum = 1, maximum = 300_000)]
    pub timeout_ms: u32,
}

fn mcp_timeout() -> u32 {
    30_000
}

/// Notes everything that is wrong with an agent's tools.
pub fn check_tools(tools: &[Tool], faults: &mut Faults) {
    faults.check(tools.len() <= 100, "tools", "expected at most 100 tools");
    let mut names = BTreeSet::new();
    for (index, tool) in tools.iter().enumerate() {
        faults.within("tools", |faults| {
            faults.within(index, |faults| {
                faults.check(is_tool_name(&tool.name), "name", "expected [A-Za-z_][A-Za-z0-9_]{0,63}");
                faults.check(!BUILT_IN.contains(&tool.name.as_str()), "name", "is a built-in tool's name");
                faults.check(names.insert(&tool.name), "name", "stands twice");
                faults.check(tool.description.len() <= 4_096, "description", "expected at most 4096 bytes");
                check_schema(&tool.input_schema, "inputSchema", faults);
                faults.within("execution", |faults| {
                    tool.execution.check(faults);
                    tool.check_inputs(faults);
                });
            });
        });
    }
}

impl Tool {
    /// A misspelled input would be left out of each request without a word, where its schema says that there can be no such field.
    fn check_inputs(&self, faults: &mut Faults) {
        let schema = &self.input_schema;
        let Some(fields) = schema.get("properties").filter(|_| schema["additionalProperties"] == false) else { return };
        let Execution::Http { url, headers, body, .. } = &self.execution else { return };
        let mut check = |text: &str, field: &str| {
            for name in templates::inputs_of(text) {
                faults.check(fields.get(name).is_some(), field, format!("expected a field of inputSchema, got input.{name}"));
            }
        };
        check(url, "url");
        for (name, value) in headers {
            check(value, &format!("headers/{name}"));
        }
        if let Some(body) = body {
            templates::texts_of_body(body, &mut |text, _| check(text, "body"));
        }
    }
}

impl Execution {
    fn check(&self, faults: &mut Faults) {
        match self {
            Self::Http { method, url, headers, body, timeout_ms } => {
                let known = ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str());
                faults.check(known, "method", "expected GET, POST, PUT, PATCH or DELETE");
                check_url(url, Place::Address, faults);
                check_headers(headers, Place::Value, faults);
                if let Some(body) = body {
                    faults.check(body.to_string().len() <= BODY_BYTES, "body", format!("expected at most {BODY_BYTES} bytes"));
                    templates::texts_of_body(body, &mut |text, is_name| check_body_text(text, is_name, faults));
                }
                faults.check_range(timeout_ms, 1..=300_000, "timeoutMs");
            }
            Self::Space { ui, result_schema, expires_after, answer_by } => {
                faults.check((1..=64).contains(&ui.chars().count()), "ui", "expected form, buttons, or a component's name");
                if let Some(schema) = result_schema {
                    check_schema(schema, "resultSchema", faults);
                }
                let week = expires_after.as_ref().is_none_or(|after| after.length().as_secs() <= 7 * 86_400);
                faults.check(week, "expiresAfter", "expected at most 7 days");
                let named = !matches!(answer_by, AnswerBy::Entities(ids) if !(1..=ANSWERERS).contains(&ids.len()));
                faults.check(named, "answerBy", format!("expected humans, anyone, or 1 to {ANSWERERS} ids"));
            }
            Self::Compute { expression } => {
                let checked = smartspace_cel::check(expression);
                let wrong = checked.as_ref().err().map_or("", String::as_str);
                faults.check(checked.is_ok(), "expression", format!("expected a CEL expression over input: {wrong}"));
            }
            Self::Static { .. } => {}
        }
    }
}

impl McpConfig {
    /// Notes everything that is wrong with it.
    pub fn check(&self, faults: &mut Faults) {
        faults.check(self.servers.len() <= 10, "servers", "expected at most 10 servers");
        let mut names = BTreeSet::new();
        for (index, server) in self.servers.iter().enumerate() {
            faults.within("servers", |faults| {
                faults.within(index, |faults| {
                    faults.check(is_server_name(&server.name), "name", SERVER_NAME);
                    faults.check(names.insert(&server.name), "name", "stands twice");
                    check_url(&server.url, Place::WithoutInput, faults);
                    faults.check(!server.url.contains("${"), "url", "expected no secret: headers may hold one");
                    check_headers(&server.headers, Place::WithoutInput, faults);
                    faults.check_range(&server.timeout_ms, 1..=300_000, "timeoutMs");
                });
            });
        }
    }
}

fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// What is said where a server's name was expected.
const SERVER_NAME: &str = "expected [A-Za-z_][A-Za-z0-9_]{0,63}, without two underscores in a row or one at the end";

/// Two servers' tools must not come to the same name.
fn is_server_name(name: &str) -> bool {
    is_tool_name(name) && !name.contains("__") && !name.ends_with('_')
}

fn check_schema(schema: &Value, field: &str, faults: &mut Faults) {
    match jsonschema::validator_for(schema) {
        Ok(_) => {}
        Err(error) => faults.check(false, field, format!("expected a JSON Schema: {error}")),
    }
}

/// The scheme and host hold no `{{` or `${`: what is filled in must not choose where a request goes.
fn check_url(url: &str, place: Place, faults: &mut Faults) {
    let base = templates::base_of(url);
    let host = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
    let fine = host.is_some_and(|host| !host.contains(['{', '$', ' ', '@', '\\'])) && Url::parse(base).is_ok();
    faults.check(fine && url.len() <= 2_048, "url", "expected http:// or https:// and a host without placeholders");
    // Some readers of addresses take a backslash for a slash, and leave out line breaks.
    let is_plain = !url.contains('\\') && !url.contains(char::is_control);
    faults.check(is_plain, "url", "expected no backslash and no control characters");
    check_text(url, place, "url", faults);
}

fn check_headers(headers: &BTreeMap<String, String>, place: Place, faults: &mut Faults) {
    faults.within("headers", |faults| {
        let mut names = BTreeSet::new();
        for (name, value) in headers {
            faults.check(names.insert(name.to_ascii_lowercase()), name, "stands twice");
            let fine = !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(char));
            faults.check(fine && !value.contains(char::is_control), name, "expected a header's name and value");
            let ours = OUR_HEADERS.iter().any(|ours| ours.eq_ignore_ascii_case(name));
            faults.check(!ours, name, "is set by Smartspace or by the connection");
            check_text(value, place, name, faults);
        }
    });
}

fn check_text(text: &str, place: Place, field: &str, faults: &mut Faults) {
    if let Some(fault) = templates::fault_of(text, place) {
        faults.check(false, field, fault);
    }
}

fn check_body_text(text: &str, is_name: bool, faults: &mut Faults) {
    if is_name {
        let fine = !text.contains("{{") && !text.contains("${secret.");
        faults.check(fine, "body", "expected nothing to be filled in in the names of fields");
    } else {
        check_text(text, Place::Value, "body", faults);
    }
}
