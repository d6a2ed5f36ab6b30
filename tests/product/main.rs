//! Tests of the whole product through its doors: HTTP, the WebSocket, and the model that it asks.
//!
//! They know an address, an admin key and a model's address, nothing else; so the same tests run against a process of their own
//! ([`stack::Stack::start`]) and, with the variables of [`deployed`] set, all of them in one process against a deployed stack. What needs more of the
//! product than that says so when it starts ([`stack::Stack::of`]), and is skipped there.
//! `SMARTSPACE_BIN` names another binary than the one that was built with the tests.
//!
//! - [`stack`], [`process`], [`deployed`]: what a test starts with; the product as a child process; the stack that the environment names
//! - [`client`], [`routes`], [`waiting`]: HTTP, what tests do with it, and how they wait
//! - [`socket`], [`view`]: the live side, and what a browser would show of it
//! - [`tool_server`], [`acting`], [`spellings`]: a server that tools call, an agent that calls it, and what must be found nowhere
//! - [`services`]: services that call agents, and how they sign
//! - [`tokens`]: JWTs, made by hand, and a provider that publishes keys
//! - [`model`]: the model that agents ask, played by a script
//! - [`invocations`]: the functions' binaries, each by itself, without the product around it
//! - all others: the tests, a module for each subject

#![cfg(test)]

mod acting;
mod client;
mod deployed;
mod mcp_server;
mod model;
mod process;
mod routes;
mod run_details;
mod services;
mod socket;
mod spellings;
mod stack;
mod steps;
mod summaries;
mod tokens;
mod tool_server;
mod view;
mod waiting;

mod access;
mod anthropic;
mod bad_input;
mod bedrock;
mod caching;
mod cancel;
mod cards;
mod chains;
mod crash;
mod cursors;
mod delegating;
mod deliveries;
mod demo;
mod doors;
mod examples;
mod fallback;
mod forms;
mod hooks;
mod hostile_json;
mod http_tools;
mod http_trouble;
mod hundred_spaces;
mod invocations;
mod kept;
mod kills;
mod live;
mod mcp;
mod members;
mod order;
mod other_peoples;
mod other_spaces;
mod own_runs;
mod plan_runs;
mod plan_tools;
mod plans;
mod promises;
mod prompt;
mod rates;
mod removals;
mod secrets;
mod shutdown;
mod signing_in;
mod socket_access;
mod socket_frames;
mod spaces;
mod tool_calls;
mod tool_effects;
mod tool_inputs;
mod trouble;
mod two_deployments;
