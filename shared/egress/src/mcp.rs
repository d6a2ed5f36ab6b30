//! Lists and calls the tools of MCP servers, over streamable HTTP: with revision 2026-07-28, which
//! has no sessions, and else with 2025-11-25, 2025-06-18 or 2025-03-26.
//!
//! `rmcp` implements the protocol: the handshake, request ids and cancellation. All its requests
//! and responses pass [`transport`], which does not give it the content of answers. Before any
//! other code reads, logs or stores what a server sends, it is limited in size, parsed as plain
//! JSON and redacted.
//!
//! - [`tool_list_cache`]: caches the tool lists of servers
//! - [`listing`]: reads a tool list
//! - [`session`]: the calls of one run
//! - [`answers`]: converts a tool's result for the model
//! - [`input_required`]: a call that ends with a question to the user
//! - [`param_headers`]: the arguments that a server wants as headers
//! - [`revisions`]: remembers which revision each server speaks
//! - [`connection`]: one connection with a server
//! - [`transport`]: sends the requests of a session and reads the responses
//! - [`messages`]: classifies the messages of a server
//! - [`in_flight`]: the state of one request
//! - [`headers`]: the configured headers of a server

mod answers;
mod connection;
mod headers;
mod in_flight;
mod input_required;
mod listing;
mod messages;
mod param_headers;
mod revisions;
mod session;
mod tool_list_cache;
mod transport;

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use smartspace_domain::{attachments::ReturnedImage, tools::McpServer};

pub use crate::mcp::{
    input_required::{InputAnswers, InputRequired},
    session::{McpCall, McpSession},
};
use crate::mcp::{
    param_headers::ParamHeader, revisions::Revisions, tool_list_cache::ToolListCache,
};
use crate::{guard::Egress, trace_context::TraceContext};

/// The MCP servers of all agents. A process needs only one. Clones are cheap.
#[derive(Clone)]
pub struct McpServers {
    egress: Egress,
    tool_lists: Arc<ToolListCache>,
    revisions: Arc<Revisions>,
}

/// The tools of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Sorted by name, at most 100, each name once.
    pub tools: Arc<[ListedTool]>,
    /// Why the server can't list its tools now, for the model. `tools` is then the last known list.
    pub trouble: Option<String>,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// The name on the server.
    pub name: String,
    /// The server's description, at most 4,096 bytes.
    pub description: String,
    /// A JSON object of at most 16 KiB. It should be a JSON Schema, but it is not validated.
    pub input_schema: Arc<str>,
    /// The arguments that are sent as headers, too.
    headers: Arc<[ParamHeader]>,
    /// Whether the server declares that the tool changes nothing.
    pub read_only: bool,
    /// Whether the server declares that a call may be repeated.
    pub idempotent: bool,
}

/// What a server answers to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum McpResponse {
    Answer(McpAnswer),
    /// The call goes on when it is repeated with an input of people.
    NeedsInput(InputRequired),
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct McpAnswer {
    /// The output for the model. A failed call has `{"error": "…"}`.
    pub output: Value,
    /// Whether the server reported that the call failed.
    pub failed: bool,
    /// The pictures of the result. The output names each, in the same order.
    pub images: Vec<ReturnedImage>,
}

impl McpServers {
    /// Sends all requests through `egress`.
    pub fn new(egress: Egress) -> Self {
        Self { egress, tool_lists: Arc::default(), revisions: Arc::default() }
    }

    /// The tools of a server. A list is cached for as long as the server says, else for 5 minutes,
    /// and a failure for 10 seconds.
    /// Concurrent callers share one request. Takes about `limit` at most.
    pub async fn tools(&self, server: &McpServer, limit: Duration) -> Listed {
        let listed = self.tool_lists.tools(&self.egress, &self.revisions, server, limit).await;
        let Listed { tools, trouble } = listed;
        Listed { tools: listing::offered(tools, server.allowed_tools.as_deref()), trouble }
    }

    /// A session for one run. It connects at its first call, and reconnects after a failure.
    /// Dropping it aborts all its work at once.
    pub fn session(&self, server: &McpServer, trace: TraceContext) -> McpSession {
        let revisions = Arc::clone(&self.revisions);
        McpSession::new(self.egress.clone(), revisions, server.clone(), trace)
    }
}

#[cfg(test)]
mod tests;
