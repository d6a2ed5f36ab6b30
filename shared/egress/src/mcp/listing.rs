//! Reads the tool list of a server, with all its pages, and selects the tools that can be offered
//! to a model.

mod tool;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use serde_json::Value;
use smartspace_domain::tools::McpServer;

use crate::Egress;
use crate::mcp::{
    ListedTool,
    connection::Connection,
    in_flight::{Failure, InFlight, RequestState},
    messages,
    revisions::{self, DEFAULT_TTL, Revisions},
};

/// How many tools of a server are offered.
const MOST_TOOLS: usize = 100;
/// How many pages of a list are read.
const MOST_PAGES: usize = 20;
/// Size limit for a list including the handshake, in bytes.
const LONGEST_LIST: usize = 1024 * 1024;

/// A tool list, as a server gives it.
pub(super) struct ToolList {
    /// Sorted by name. If a name occurs twice, the first tool counts.
    pub(super) tools: Arc<[ListedTool]>,
    /// How long the list is valid.
    pub(super) ttl: Duration,
    /// Still open. The caller closes it.
    pub(super) connection: Connection,
}

/// Asks a server for its tools over a new connection.
///
/// # Errors
/// Why there is no list, in a sentence.
pub(super) async fn read(
    egress: &Egress,
    revisions: &Revisions,
    server: &McpServer,
) -> Result<ToolList, String> {
    let connection = Connection::open(egress, revisions, server, None, LONGEST_LIST).await?;
    let lifecycle = connection.lifecycle();
    let mut tools = BTreeMap::new();
    let mut cursor = None;
    let mut ttl = None;
    for _ in 0..MOST_PAGES {
        let read = page(&connection, cursor).await;
        // The server may speak another revision now.
        let mut page = read.inspect_err(|_| revisions.forget(server))?;
        // The list is as old as its first page that expires.
        ttl = ttl.into_iter().chain(revisions::ttl_of(&page)).min();
        if let Some(Value::Array(listed)) = page.get_mut("tools").map(Value::take) {
            for tool in listed.into_iter().filter_map(|listed| tool::read(listed, lifecycle)) {
                tools.entry(tool.name.clone()).or_insert(tool);
            }
        }
        match page.get_mut("nextCursor").map(Value::take) {
            Some(Value::String(next)) if !next.is_empty() => cursor = Some(next),
            _ => break,
        }
    }
    let tools = tools.into_values().collect();
    Ok(ToolList { tools, ttl: ttl.unwrap_or(DEFAULT_TTL), connection })
}

/// The tools that an agent may use.
pub(super) fn offered(tools: Arc<[ListedTool]>, allowed: Option<&[String]>) -> Arc<[ListedTool]> {
    match allowed {
        None if tools.len() <= MOST_TOOLS => tools,
        None => tools[..MOST_TOOLS].into(),
        Some(allowed) => tools
            .iter()
            .filter(|tool| allowed.contains(&tool.name))
            .take(MOST_TOOLS)
            .cloned()
            .collect(),
    }
}

async fn page(connection: &Connection, cursor: Option<String>) -> Result<Value, String> {
    let in_flight = InFlight::without_call();
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    connection
        .ask(ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params)), &in_flight)
        .await;
    match in_flight.take() {
        RequestState::Answered(Ok(page)) => Ok(page),
        RequestState::Answered(Err(error)) => Err(connection
            .transport()
            .sentence(format!("does not list its tools: {}", messages::error_text(&error)))),
        RequestState::Failed(
            Failure::NotProcessed(text) | Failure::Refused(text) | Failure::Unknown(text),
        ) => Err(text),
        RequestState::Failed(Failure::Expired) | RequestState::Unsent | RequestState::Sent => {
            Err(connection.transport().sentence("broke off the connection"))
        }
    }
}
