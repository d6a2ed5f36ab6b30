//! What all six mains share.
//!
//! - [`config`]: the environment, read once, with everything that is missing said at once
//! - [`edges`]: the table, the queues, the alarms and the sockets on AWS; [`secret`]: the stack's secret, and what is built from it
//! - [`batch`]: SQS records into jobs, each by itself; [`schedule`]: the clock's calls
//! - [`http`] and [`websocket`]: API Gateway's events
//! - [`log`]: one JSON line for each event; [`failure`]: what a failed invocation is called
//!
//! No AWS event type leaves this crate. Every handler may be called again before it has answered: a binary serves ordinary functions and those that are
//! given several invocations at once.

pub mod batch;
pub mod config;
pub mod edges;
pub mod failure;
pub mod http;
pub mod log;
pub mod schedule;
pub mod secret;
pub mod websocket;

pub use lambda_runtime::Error;
