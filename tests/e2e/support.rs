//! Code that the tests share: the product as a process, clients for HTTP and WebSocket, the fake
//! model and the fake servers.

pub(crate) mod client;
pub(crate) mod deployed;
pub(crate) mod files;
pub(crate) mod identity_provider;
pub(crate) mod items;
pub(crate) mod mcp_server;
pub(crate) mod model;
pub(crate) mod process;
pub(crate) mod routes;
pub(crate) mod secret_spellings;
pub(crate) mod socket;
pub(crate) mod stack;
pub(crate) mod tokens;
pub(crate) mod tool_scene;
pub(crate) mod tool_server;
pub(crate) mod view;
pub(crate) mod waiting;
pub(crate) mod webhook_senders;
