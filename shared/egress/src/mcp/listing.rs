//! Reads the tool list of a server, with all its pages, and selects the tools that can be offered
//! to a model.

mod tool;

use std::{collections::BTreeMap, sync::Arc};

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use serde_json::Value;
use smartspace_domain::tools::McpServer;

use crate::Egress;
use crate::mcp::{
    ListedTool,
    connection::Connection,
    in_flight::{Failure, InFlight, RequestState},
    messages,
};

/// How many tools of a server are offered.
const MOST_TOOLS: usize = 100;
/// How many pages of a list are read.
const MOST_PAGES: usize = 20;
/// Size limit for a list including the handshake, in bytes.
const LONGEST_LIST: usize = 1024 * 1024;

/// Asks a server for its tools in a new session. The caller closes the session. The tools are
/// sorted by name. If a name occurs twice, the first tool counts.
///
/// # Errors
/// Why there is no list, in a sentence.
pub(super) async fn read(
    egress: &Egress,
    server: &McpServer,
) -> Result<(Arc<[ListedTool]>, Connection), String> {
    let connection = Connection::open(egress, server, None, LONGEST_LIST).await?;
    let mut tools = BTreeMap::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let mut page = page(&connection, cursor).await?;
        if let Some(Value::Array(listed)) = page.get_mut("tools").map(Value::take) {
            for tool in listed.into_iter().filter_map(tool::read) {
                tools.entry(tool.name.clone()).or_insert(tool);
            }
        }
        match page.get_mut("nextCursor").map(Value::take) {
            Some(Value::String(next)) if !next.is_empty() => cursor = Some(next),
            _ => break,
        }
    }
    Ok((tools.into_values().collect(), connection))
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
