//! The code that the binaries of the functions share.
//!
//! - [`config`]: reads the environment once and reports all that is wrong with it at once
//! - [`aws`]: the table, queues, alarms and sockets on AWS
//! - [`secret`]: the stack's secrets and what is built from it
//! - [`batch`]: turns the records of an SQS batch into independent jobs
//! - [`schedule`]: scheduled invocations
//! - [`http`] and [`websocket`]: events of API Gateway
//! - [`invocation`]: the ids of API Gateway and Lambda, for each line of the log
//! - [`log`]: one JSON line per event
//! - [`failure`]: the name of a failed invocation
//!
//! No AWS event type leaves this crate. A handler may be called again before it has finished,
//! because a binary also serves functions that get several invocations at once.
//!
//! `docs/internals/aws.md` describes the deployment.

pub mod aws;
pub mod batch;
pub mod config;
pub mod failure;
pub mod http;
pub mod invocation;
pub mod log;
pub mod schedule;
pub mod secret;
pub mod storage_events;
pub mod websocket;

pub use lambda_runtime::Error;
