//! `/v1/tools/test`: one call of a tool outside of runs, so that an operator sees what models would
//! read.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    attachments::ReturnedImage,
    errors::Faults,
    ids::{CallId, RunId},
    quoting::escaped,
    tools::{Execution, McpServer, Tool},
};
use smartspace_egress::{
    TraceContext,
    http_tool::{self, HttpTool},
    mcp::{McpCall, McpResponse, McpServers},
    output::bounded,
};
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::Body,
};

/// How long a test may take at most, since its request waits for it.
const LONGEST: Duration = Duration::from_secs(25);
/// How long an MCP server may take to list its tools, as in a run.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn routes() -> Routes {
    routes![test]
}

/// A call to be made. It has either a `tool` or an `mcp`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ToolTest {
    /// A tool of the type `http`, as in the configuration of an agent.
    #[serde(default)]
    tool: Option<Tool>,
    /// A tool of an MCP server.
    #[serde(default)]
    mcp: Option<McpToolTest>,
    /// The input of the call.
    #[serde(default = "no_input")]
    input: Value,
}

/// A tool of an MCP server.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct McpToolTest {
    /// The server, as in the configuration of an agent.
    server: McpServer,
    /// The name of the tool at the server.
    tool: String,
}

fn no_input() -> Value {
    json!({})
}

/// What a call has returned.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ToolTestResult {
    /// The HTTP status of the answer; null without one, and for tools of MCP servers.
    #[schema(required)]
    status: Option<u16>,
    /// How long the call took.
    milliseconds: u64,
    /// Whether the call failed.
    is_error: bool,
    /// The result as a model reads it: JSON, cut to 32 KiB, with secrets replaced.
    result: String,
}

/// The output of a call, with the status of its answer.
struct Output {
    status: Option<u16>,
    is_error: bool,
    value: Value,
}

impl Output {
    fn error(text: impl Into<String>) -> Self {
        Self { status: None, is_error: true, value: json!({"error": text.into()}) }
    }
}

/// Test a tool
///
/// Makes one real call, outside of runs, and shows what a model would read. Nothing is stored. A
/// call takes at most 25 seconds.
#[utoipa::path(
    post, path = "/v1/tools/test", operation_id = "testTool", tag = "service",
    request_body = ToolTest,
    responses((status = 200, body = ToolTestResult))
)]
async fn test(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    body: Body,
) -> ApiResult<Json<ToolTestResult>> {
    caller.must_be_operator()?;
    let ToolTest { tool, mcp, input } = body.read()?;
    let begun = Instant::now();
    let Output { status, is_error, value } = match (tool, mcp) {
        (Some(tool), None) => Box::pin(call_http(&api, &tool, &input)).await?,
        (None, Some(mcp)) => Box::pin(call_server(&api, &mcp, &input)).await?,
        _ => return Err(Error::invalid("", "expected either a tool or an mcp").into()),
    };
    let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let result = escaped(&value.to_string());
    Ok(Json(ToolTestResult { status, milliseconds, is_error, result }))
}

/// Calls belong to runs; this one belongs to a run that does not exist.
fn trace(api: &Api) -> (TraceContext, CallId) {
    let (now, ids) = (api.pipeline.now(), &api.pipeline.ids);
    let run = RunId::new(now, ids.random());
    (TraceContext { run, trace: None, depth: 1 }, CallId::of(run, 0, 0))
}

async fn call_http(api: &Api, tool: &Tool, input: &Value) -> Result<Output> {
    let kind = tool.execution.kind();
    let Execution::Http { method, url, headers, body, timeout_ms } = tool.execution.clone() else {
        let text = format!("expected http: a tool of the type {kind} can't be tested");
        return Err(Error::invalid("/tool/execution/type", text));
    };
    let mut faults = Faults::default();
    faults.within("tool", |faults| tool.add_faults(faults));
    faults.done()?;
    tool.check_input(input)?;
    let limit = LONGEST.min(Duration::from_millis(timeout_ms.into()));
    let http = HttpTool { method, url, headers, body, limit };
    let (trace, call) = trace(api);
    let request = http.request(&api.egress, trace.headers(call), input, tool.idempotent).await;
    let request = match request {
        Ok(request) => request,
        Err(text) => return Ok(Output::error(text)),
    };
    let answer = http_tool::send(&api.egress, request).await;
    let status = answer.status.map(|status| status.as_u16());
    let value = answer.image.as_ref().map_or(answer.output, picture);
    Ok(Output { status, is_error: answer.failed, value })
}

/// A picture would be stored in a space, and the model would see it.
fn picture(image: &ReturnedImage) -> Value {
    let ReturnedImage { content_type, bytes } = image;
    format!("[a picture: {} bytes of {content_type}]", bytes.len()).into()
}

async fn call_server(api: &Api, mcp: &McpToolTest, input: &Value) -> Result<Output> {
    let McpToolTest { server, tool } = mcp;
    let mut faults = Faults::default();
    faults.within("mcp", |faults| faults.within("server", |it| server.add_faults(it)));
    faults.done()?;
    let limit = LONGEST.min(Duration::from_millis(server.timeout_ms.into()));
    let servers = McpServers::new(api.egress.clone());
    let listed = servers.tools(server, limit.min(LIST_TIMEOUT)).await;
    let Some(found) = listed.tools.iter().find(|it| it.name == *tool) else {
        return match listed.trouble {
            Some(trouble) => Ok(Output::error(trouble)),
            None => Err(Error::invalid("/mcp/tool", "expected a tool that the server lists")),
        };
    };
    let (trace, id) = trace(api);
    let session = servers.session(server, trace);
    let progress = watch::Sender::new(String::new());
    let call = McpCall { tool: found, input, id, answers: None, limit, progress: &progress };
    let answer = session.call(&call).await;
    session.close().await;
    Ok(match answer {
        Ok(McpResponse::Answer(answer)) => {
            Output { status: None, is_error: answer.failed, value: bounded(answer.output) }
        }
        Ok(McpResponse::NeedsInput(_)) => {
            Output::error("the server asks people for an input, which a test can't give")
        }
        Err(error) => Output::error(error.to_string()),
    })
}
