//! Tools of MCP servers, as an agent has them: `server__tool`.
//!
//! - [`questions`]: the questions of servers to people, as forms

pub(crate) mod questions;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::future::join_all;
use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::{ids::CallId, steps::CallStatus, tools::McpServer};
use smartspace_egress::{
    SendError, TraceContext,
    mcp::{InputAnswers, InputRequired, ListedTool, McpCall, McpResponse, McpServers, McpSession},
};
use smartspace_store::table::keys;
use tokio::sync::watch;

use crate::tools::{
    calling::Outcome,
    configured::{Configured, ToolKind, call_response::CallResponse},
    output::bounded,
};

/// How long a server may take to list its tools. A run has no tools of a slower server.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// How much the tools of all servers take in a prompt, in bytes. Without a limit, a server with too
/// many tools would leave no room for anything else.
const MAX_OFFERED_BYTES: usize = 128 * 1024;

/// The largest schema that inputs are checked against here, in JSON values.
const MAX_CHECKED_NODES: usize = 1_000;

/// The longest tool name that model providers accept.
const MAX_NAME_BYTES: usize = 64;

/// A tool of a server, with the session of the run.
pub(crate) struct McpTool {
    session: Arc<McpSession>,
    server: String,
    tool: ListedTool,
    /// `server__tool`, if models see another name.
    whole_name: Option<String>,
    pub(crate) limit: Duration,
}

impl McpTool {
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    pub(crate) fn whole_name(&self) -> Option<&str> {
        self.whole_name.as_deref()
    }
}

/// The tools of an agent's servers, for one run.
#[derive(Default)]
pub(crate) struct McpTools {
    pub(crate) tools: Vec<Configured>,
    sessions: Vec<Arc<McpSession>>,
    pub(crate) problems: McpProblems,
}

/// Servers that do not answer, and tools that are missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct McpProblems {
    pub(crate) for_model: Vec<String>,
    /// These may name addresses and settings.
    pub(crate) for_operator: Vec<String>,
}

impl McpTools {
    /// Lists the tools of all servers at the same time.
    pub(crate) async fn list(
        mcp: &McpServers,
        servers: &[McpServer],
        trace: &TraceContext,
    ) -> Self {
        let listed =
            servers.iter().map(|server| mcp.tools(server, limit_of(server).min(LIST_TIMEOUT)));
        let mut all = Self::default();
        let mut names = BTreeSet::new();
        let mut bytes_left = MAX_OFFERED_BYTES;
        for (server, listed) in servers.iter().zip(join_all(listed).await) {
            let session = Arc::new(mcp.session(server, trace.clone()));
            let mut left_out = 0;
            for tool in listed.tools.iter() {
                let name = offered_name(&server.name, &tool.name);
                let bytes = name.len() + tool.description.len() + tool.input_schema.len();
                if bytes > bytes_left {
                    left_out += 1;
                } else if names.insert(name.clone()) {
                    bytes_left -= bytes;
                    all.tools.push(configured(server, &session, tool, name));
                }
            }
            all.sessions.push(session);
            if listed.trouble.is_none() {
                let missing = server
                    .allowed_tools
                    .iter()
                    .flatten()
                    .filter(|name| !listed.tools.iter().any(|tool| tool.name == **name));
                all.problems.for_model.extend(missing.map(|name| {
                    format!("The server {} has no tool {}.", server.name, json!(name))
                }));
            }
            if let Some(trouble) = listed.trouble {
                all.problems.for_model.push(not_available(&server.name));
                all.problems.for_operator.push(of_server(&server.name, &trouble));
            }
            if left_out > 0 {
                let left_out =
                    format!("{left_out} tools of the server {} are left out", server.name);
                all.problems.for_model.push(format!("{left_out}."));
                all.problems.for_operator.push(format!(
                    "{left_out}, since there are too many; allowedTools can name those that are \
                     needed."
                ));
            }
        }
        let McpProblems { for_model, for_operator } = &all.problems;
        for trouble in for_model.iter().chain(for_operator) {
            let run = trace.run;
            tracing::warn!(%run, trouble, "an MCP server's tools are not as configured");
        }
        all
    }

    /// Ends the sessions.
    pub(crate) async fn close(&self) {
        join_all(self.sessions.iter().map(|session| session.close())).await;
    }
}

fn limit_of(server: &McpServer) -> Duration {
    Duration::from_millis(u64::from(server.timeout_ms))
}

fn configured(
    server: &McpServer,
    session: &Arc<McpSession>,
    tool: &ListedTool,
    name: String,
) -> Configured {
    let mut input_schema =
        smartspace_domain::json::parse(&*tool.input_schema).unwrap_or_else(|_| json!({}));
    if let Some(schema) = input_schema.as_object_mut() {
        // The protocol requires it, and providers refuse any other type.
        schema.insert("type".to_owned(), json!("object"));
    }
    let whole_name = whole_name(&server.name, &tool.name);
    Configured {
        description: tool.description.clone(),
        input_schema,
        is_visible: server.visible,
        is_read_only: tool.read_only,
        is_idempotent: tool.idempotent,
        target: None,
        kind: ToolKind::Mcp(McpTool {
            session: Arc::clone(session),
            server: server.name.clone(),
            tool: tool.clone(),
            whole_name: Some(whole_name).filter(|whole| *whole != name),
            limit: limit_of(server),
        }),
        name,
        validator: std::sync::OnceLock::new(),
    }
}

fn whole_name(server: &str, tool: &str) -> String {
    format!("{server}__{tool}")
}

/// The name of a tool for models. Characters that they can't write are replaced, and a long name is
/// cut. Such a name ends with a hash of the whole name, so that no other tool has the same one.
fn offered_name(server: &str, tool: &str) -> String {
    let whole = whole_name(server, tool);
    let is_fine = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    if whole.len() <= MAX_NAME_BYTES && whole.chars().all(is_fine) {
        return whole;
    }
    let name: String = whole
        .chars()
        .map(|char| if is_fine(char) { char } else { '_' })
        .take(MAX_NAME_BYTES - 9)
        .collect();
    format!("{name}_{}", &keys::hash(&[server, tool])[..8])
}

/// Checks inputs against the schema of a server, if that is cheap. The server checks them in any
/// case.
pub(crate) fn validator(schema: &Value) -> Option<Validator> {
    let mut nodes = MAX_CHECKED_NODES;
    can_be_checked(schema, &mut nodes).then(|| jsonschema::validator_for(schema).ok()).flatten()
}

/// These make a check expensive: references may multiply a schema, patterns may take any time, and
/// unique items are compared with each other.
const NOT_CHECKED: [&str; 6] =
    ["$ref", "$dynamicRef", "$recursiveRef", "pattern", "patternProperties", "uniqueItems"];

fn can_be_checked(schema: &Value, nodes: &mut usize) -> bool {
    let Some(left) = nodes.checked_sub(1) else { return false };
    *nodes = left;
    match schema {
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            !NOT_CHECKED.contains(&name.as_str()) && can_be_checked(value, nodes)
        }),
        Value::Array(items) => items.iter().all(|item| can_be_checked(item, nodes)),
        _ => true,
    }
}

/// The answer of a server to a call.
pub(crate) enum Called {
    /// The outcome for the model, and the pictures of the result.
    Response(Box<CallResponse>),
    /// The call goes on with an input of people.
    NeedsInput(InputRequired),
}

/// Calls a tool. `answers` are the inputs of people for which its server has asked.
pub(crate) async fn call(
    tool: &McpTool,
    input: &Value,
    call: CallId,
    answers: Option<&InputAnswers>,
    progress: &watch::Sender<String>,
) -> Called {
    let call = McpCall { tool: &tool.tool, input, id: call, answers, limit: tool.limit, progress };
    let response = match tool.session.call(&call).await {
        Ok(McpResponse::NeedsInput(required)) => return Called::NeedsInput(required),
        Ok(McpResponse::Answer(answer)) => {
            let status = if answer.failed { CallStatus::Failed } else { CallStatus::Completed };
            let outcome = Outcome { status, ..Outcome::completed(bounded(answer.output)) };
            CallResponse { outcome, images: answer.images, title: String::new() }
        }
        // The model's text may reach people who may know neither the address nor the settings.
        Err(SendError::NotSent(cause) | SendError::Refused(cause)) if is_object(input) => {
            tracing::warn!(server = tool.server, cause, "an MCP server is not available");
            let outcome = Outcome {
                server_note: Some(of_server(&tool.server, &cause)),
                ..Outcome::error(not_available(&tool.server))
            };
            outcome.into()
        }
        Err(error) => Outcome::error(error.to_string()).into(),
    };
    Called::Response(Box::new(response))
}

/// Whether a session takes the input.
fn is_object(input: &Value) -> bool {
    input.is_object() || input.is_null()
}

/// What the model reads about a server that is not reached, whatever the cause.
fn not_available(server: &str) -> String {
    format!("The server {server} is not available.")
}

/// What the operator reads about it.
fn of_server(server: &str, cause: &str) -> String {
    format!("MCP server {server}: {cause}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_models_can_write_and_stays_its_own() {
        assert_eq!(offered_name("docs", "get-sum"), "docs__get-sum");
        let one = offered_name("docs", "a/b");
        let two = offered_name("docs", "a.b");
        assert!(one.starts_with("docs__a_b_") && one != two, "{one} {two}");
        let long = offered_name(&"s".repeat(64), &"ü".repeat(64));
        assert!(long.len() == MAX_NAME_BYTES && long.is_ascii(), "{long}");
    }

    #[test]
    fn a_schema_that_is_expensive_to_check_is_left_to_its_server() {
        let is_checked = |schema: Value| validator(&schema).is_some();
        assert!(is_checked(json!({"type": "object", "properties": {"a": {"enum": ["$ref"]}}})));
        assert!(!is_checked(json!({"properties": {"a": {"items": [{"$ref": "#"}]}}})));
        assert!(!is_checked(json!({"properties": {"a": {"pattern": "^(a+)+$"}}})));
        assert!(!is_checked(json!({"enum": vec![1; MAX_CHECKED_NODES]})));
    }
}
