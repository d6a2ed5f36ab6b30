//! What tools a server has: all pages of its list, and of each tool what can be offered to a model.

use std::{collections::BTreeMap, sync::Arc};

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use serde_json::Value;
use smartspace_domain::tools::McpServer;

use super::{
    ListedTool,
    connection::Connection,
    messages,
    slip::{Failure, Fate, Slip},
};
use crate::Egress;

/// How many tools of a server are offered.
const MOST_TOOLS: usize = 100;
/// How many pages of a list are read.
const MOST_PAGES: usize = 20;
/// How much is read for a list, the handshake included.
const LONGEST_LIST: usize = 1024 * 1024;
const LONGEST_NAME: usize = 256;
const LONGEST_DESCRIPTION: usize = 4_096;
const LONGEST_SCHEMA: usize = 16 * 1024;

/// Asks a server for its tools, in a session of its own, which is left to the caller to be closed. They come in the order of their names, each name once; of those that stand twice
/// the first counts.
///
/// # Errors
/// Why there is no list, in a sentence.
pub(super) async fn read(egress: &Egress, server: &McpServer) -> Result<(Arc<[ListedTool]>, Connection), String> {
    let connection = Connection::open(egress, server, None, LONGEST_LIST).await?;
    let mut tools = BTreeMap::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let mut page = page(&connection, cursor).await?;
        if let Some(Value::Array(listed)) = page.get_mut("tools").map(Value::take) {
            for tool in listed.into_iter().filter_map(tool) {
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

/// Those that an agent may use.
pub(super) fn offered(tools: Arc<[ListedTool]>, allowed: Option<&[String]>) -> Arc<[ListedTool]> {
    match allowed {
        None if tools.len() <= MOST_TOOLS => tools,
        None => tools[..MOST_TOOLS].into(),
        Some(allowed) => tools.iter().filter(|tool| allowed.contains(&tool.name)).take(MOST_TOOLS).cloned().collect(),
    }
}

async fn page(connection: &Connection, cursor: Option<String>) -> Result<Value, String> {
    let slip = Slip::of_question();
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    connection.ask(ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params)), &slip).await;
    match slip.take() {
        Fate::Answered(Ok(page)) => Ok(page),
        Fate::Answered(Err(error)) => Err(connection.wire().sentence(format!("does not list its tools: {}", messages::error_text(&error)))),
        Fate::Failed(Failure::Untouched(text) | Failure::Refused(text) | Failure::Unclear(text)) => Err(text),
        Fate::Failed(Failure::Expired) | Fate::Unsent | Fate::Sent => Err(connection.wire().sentence("broke off the connection")),
    }
}

/// `None` where it can't be offered.
fn tool(mut tool: Value) -> Option<ListedTool> {
    let name = tool.get("name")?.as_str()?.to_owned();
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_control) {
        return None;
    }
    let input_schema = tool.get_mut("inputSchema").map(Value::take).filter(Value::is_object)?;
    // As a text: a value takes many times its room.
    let input_schema: Arc<str> = input_schema.to_string().into();
    if input_schema.len() > LONGEST_SCHEMA {
        return None;
    }
    let said = tool.get("description").or(tool.get("title")).and_then(Value::as_str).unwrap_or_default();
    let mut description: String =
        said.chars().map(|char| if char.is_control() && !matches!(char, '\n' | '\t') { ' ' } else { char }).collect();
    description.truncate(description.floor_char_boundary(LONGEST_DESCRIPTION));
    let hint = |name| tool["annotations"][name].as_bool() == Some(true);
    let read_only = hint("readOnlyHint");
    Some(ListedTool { name, description, input_schema, read_only, idempotent: read_only || hint("idempotentHint") })
}
