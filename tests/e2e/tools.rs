//! Built-in, HTTP, MCP and `space` tools, with their cards, forms and secrets.

pub(crate) mod calls;
pub(crate) mod cards;
pub(crate) mod compute;
pub(crate) mod effects;
pub(crate) mod forms;
pub(crate) mod http;
pub(crate) mod http_failures;
pub(crate) mod inputs;
pub(crate) mod mcp;
pub(crate) mod private_addresses;
pub(crate) mod secrets;
