//! Built-in, HTTP, MCP and `space` tools, with their cards, forms, approvals and secrets, and tools
//! of pages.

pub(crate) mod allowances;
pub(crate) mod approval_rules;
pub(crate) mod approvals;
pub(crate) mod calls;
pub(crate) mod cards;
pub(crate) mod compute;
pub(crate) mod effects;
pub(crate) mod forms;
pub(crate) mod http;
pub(crate) mod http_failures;
pub(crate) mod inbox;
pub(crate) mod inputs;
pub(crate) mod mcp;
pub(crate) mod page_tools;
pub(crate) mod private_addresses;
pub(crate) mod search;
pub(crate) mod secrets;
pub(crate) mod tested;
pub(crate) mod titles;
