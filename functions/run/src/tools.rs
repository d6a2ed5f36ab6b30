//! The tools that an agent can use.
//!
//! - [`tool`]: the trait that every tool implements
//! - [`calling`]: a call and its outcome
//! - [`ruling`]: what the agent's rules say about a call
//! - [`approvals`]: asks people about calls
//! - [`builtin`]: the built-in tools, a file each
//! - [`configured`]: the tools of the agent's configuration and of its MCP servers
//! - [`toolbox`]: the tools of one agent, by name
//! - [`execution`]: makes the calls of a model answer
//! - [`naming`]: the spaces and agents that a model names
//! - [`input`]: parses and checks inputs
//! - [`output`]: limits outputs

pub(crate) mod approvals;
pub(crate) mod builtin;
pub(crate) mod calling;
pub(crate) mod configured;
pub(crate) mod execution;
pub(crate) mod input;
pub(crate) mod naming;
pub(crate) mod output;
pub(crate) mod ruling;
pub(crate) mod tool;
pub(crate) mod toolbox;
