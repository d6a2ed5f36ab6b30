//! Sends every request that an agent causes. Each one passes [`Egress::send`] or the MCP client,
//! which uses the same guarded HTTP client.
//!
//! - [`addresses`]: the addresses that tools must not reach
//! - [`guard`]: the HTTP client, which connects only to public addresses and to allowed hosts
//! - [`http_tool`]: fills in the request of an HTTP tool, and reads the answer for the model
//! - [`output`]: limits what models read
//! - [`mcp`]: lists the tools of MCP servers and calls them
//! - [`trace_context`]: headers that tell a server which run a request belongs to
//! - `exchange`: a request and its response
//! - `request`: sends a request, follows its redirects and retries it
//! - `causes`: describes errors of the HTTP client
//!
//! `docs/internals/calls.md` says how tools call servers.

pub mod addresses;
mod causes;
mod exchange;
pub mod guard;
pub mod http_tool;
pub mod mcp;
pub mod output;
mod request;
pub mod trace_context;

pub use exchange::{HttpResponse, Outgoing, SendError, Transport};
pub use guard::{Egress, ToolHosts};
pub use trace_context::TraceContext;
