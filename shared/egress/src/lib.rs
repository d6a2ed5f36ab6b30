//! All requests that an agent causes. There is no other way out: every one of them passes [`Egress::send`] or the MCP client on top of it.
//!
//! - [`addresses`]: where nobody may go
//! - [`guard`]: the client that goes nowhere else, whatever a name resolves to
//! - [`request`]: one request with its limits and redirects
//! - [`mcp`]: MCP servers: what tools they have, and a call of one
//! - [`trail`]: what a request tells of where it comes from

pub mod addresses;
pub mod guard;
pub mod mcp;
pub mod request;
pub mod trail;

pub use guard::{Egress, ToolHosts, Wire};
pub use request::{Answer, Outgoing, SendError};
pub use trail::Trail;
