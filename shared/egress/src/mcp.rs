//! Tools of MCP servers, over streamable HTTP: what a server has, and a call of one.
//!
//! `rmcp` does the protocol: the handshake, the ids, cancellation. All that goes out and all that comes in passes [`wire`], which keeps the
//! content of answers to itself: nothing that a server says is read, logged or kept by anyone before it was bounded, read as plain JSON and
//! freed of secrets.
//!
//! - [`shelf`]: the lists of tools that are kept for a while
//! - [`listing`]: reading such a list
//! - [`session`]: calls of one run
//! - [`answers`]: what a result is for the model
//! - [`connection`]: one session with a server
//! - [`wire`], [`stream`], [`messages`]: its requests, its events, and what is let through
//! - [`slip`]: what becomes of one request
//! - [`headers`]: what is sent along

mod answers;
mod connection;
mod headers;
mod listing;
mod messages;
mod session;
mod shelf;
mod slip;
mod stream;
mod wire;

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use smartspace_domain::tools::McpServer;

pub use self::session::McpSession;
use self::shelf::Shelf;
use crate::{guard::Egress, trail::Trail};

/// The MCP servers of all agents: one per process, cheap to clone.
#[derive(Clone)]
pub struct McpServers {
    egress: Egress,
    shelf: Arc<Shelf>,
}

/// What tools a server has.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// In the order of their names, at most 100, each name once.
    pub tools: Arc<[ListedTool]>,
    /// Why the server can't be asked now, for the model. The tools are then those that it had, as far as they are known.
    pub trouble: Option<String>,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// Its name there.
    pub name: String,
    /// At most 4,096 bytes.
    pub description: String,
    /// A JSON object of at most 16 KiB, meant as JSON Schema; nobody has checked that it is one.
    pub input_schema: Arc<str>,
    /// It says that it changes nothing.
    pub read_only: bool,
    /// It says that it may be repeated.
    pub idempotent: bool,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct McpAnswer {
    /// For the model. Where it failed: `{"error": "…"}`.
    pub output: Value,
    /// Whether the server says that it failed.
    pub failed: bool,
}

impl McpServers {
    /// Servers that are reached through `egress`.
    pub fn new(egress: Egress) -> Self {
        Self { egress, shelf: Arc::default() }
    }

    /// What tools a server has, as it said within the last 5 minutes. Whoever asks at the same time shares one question, a failure is
    /// remembered for 10 seconds. It takes at most about `limit`.
    pub async fn tools(&self, server: &McpServer, limit: Duration) -> Listed {
        let Listed { tools, trouble } = self.shelf.tools(&self.egress, server, limit).await;
        Listed { tools: listing::offered(tools, server.allowed_tools.as_deref()), trouble }
    }

    /// A session for one run. It connects at its first call, and anew after it broke. Dropping it ends all that it does at once.
    pub fn session(&self, server: &McpServer, trail: Trail) -> McpSession {
        McpSession::new(self.egress.clone(), server.clone(), trail)
    }
}

#[cfg(test)]
mod tests;
