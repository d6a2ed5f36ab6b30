//! Tests of the whole product through HTTP, WebSocket and the model that it calls.
//!
//! A test knows only a base URL, an admin key and the address of the fake model. So the same tests
//! run against a process of their own ([`support::stack::Stack::start`]) and, if the variables of
//! [`support::deployed`] are set, against a deployed stack. A test that needs more declares it when
//! it starts ([`support::stack::Stack::of`]). If a deployed stack does not offer that, the test is
//! skipped. `SMARTSPACE_BIN` replaces the binary that is built with the tests.
//!
//! - [`support`]: code that the tests share.
//! - [`invocations`]: each Lambda binary alone, with the sample events.
//! - [`crash`]: `tests/crash`, built into this binary because it shares `support`.
//! - Every other module has the tests of one subject.

#![cfg(test)]

mod support;

mod api;
mod auth;
mod cli;
#[path = "../crash/mod.rs"]
mod crash;
mod files;
mod host;
mod invocations;
mod messages;
mod models;
mod plans;
mod projects;
mod protocols;
mod realtime;
mod runs;
mod search;
mod spaces;
mod table_calls;
mod tools;
mod webhooks;
