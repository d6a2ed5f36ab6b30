//! Reads one tool of a server's list.

use std::sync::Arc;

use serde_json::Value;

use crate::mcp::{ListedTool, param_headers, revisions::Lifecycle};

const LONGEST_NAME: usize = 256;
const LONGEST_DESCRIPTION: usize = 4_096;
const LONGEST_SCHEMA: usize = 16 * 1024;

/// Returns `None` if the tool can't be offered to a model.
pub(super) fn read(mut tool: Value, lifecycle: Lifecycle) -> Option<ListedTool> {
    let name = tool.get("name")?.as_str()?.to_owned();
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_control) {
        return None;
    }
    let input_schema = tool.get_mut("inputSchema").map(Value::take).filter(Value::is_object)?;
    let headers = match lifecycle {
        Lifecycle::Stateless => param_headers::of_schema(&input_schema)?,
        Lifecycle::Session => Vec::new(),
    };
    // Stored as text, because a parsed value needs many times more memory.
    let input_schema: Arc<str> = input_schema.to_string().into();
    if input_schema.len() > LONGEST_SCHEMA {
        return None;
    }
    let description =
        tool.get("description").or(tool.get("title")).and_then(Value::as_str).unwrap_or_default();
    let mut description: String = description
        .chars()
        .map(|char| if char.is_control() && !matches!(char, '\n' | '\t') { ' ' } else { char })
        .collect();
    description.truncate(description.floor_char_boundary(LONGEST_DESCRIPTION));
    let hint = |name| tool["annotations"][name].as_bool() == Some(true);
    let read_only = hint("readOnlyHint");
    Some(ListedTool {
        name,
        description,
        input_schema,
        headers: headers.into(),
        read_only,
        idempotent: read_only || hint("idempotentHint"),
    })
}
