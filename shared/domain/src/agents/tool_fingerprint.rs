//! What a tool is. People approve calls of this tool, and of no other one under its name.

use serde_json::{Value, json};

use crate::{agents::AgentConfig, attachments::Sha256Hex, tools::Tool};

impl AgentConfig {
    /// A hash of what a call of this tool does, as far as the configuration says so. Another
    /// description or title is no change.
    pub fn tool_fingerprint(&self, tool: &str) -> String {
        let own = self.tools.iter().find(|it| it.name == tool);
        // The name of a server has no two underscores in a row.
        let server = tool.split_once("__").map(|(server, _)| server);
        let server = self.mcp.servers.iter().find(|it| Some(it.name.as_str()) == server);
        let mut what = match (own, server) {
            (Some(own), _) => {
                json!(Tool { description: String::new(), title: None, ..own.clone() })
            }
            (None, Some(server)) => json!([server.url, server.headers]),
            (None, None) => Value::Null,
        };
        what.sort_all_objects();
        Sha256Hex::of(what.to_string().as_bytes()).to_string()
    }
}
