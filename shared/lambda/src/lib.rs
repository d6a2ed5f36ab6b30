//! What all six mains share.
//!
//! - [`config`]: the environment, read once, with everything that is missing said at once
//! - [`edges`]: the table, the queues and the sockets on AWS
//! - [`batch`]: SQS records into jobs, each by itself
//! - [`websocket`]: API Gateway's WebSocket events
//! - [`log`]: one JSON line per event
//!
//! No AWS event type leaves this crate.

pub mod batch;
pub mod config;
pub mod edges;
pub mod log;
pub mod websocket;

pub use lambda_http::run as run_http;
pub use lambda_runtime::{Error, LambdaEvent, run, service_fn};
