//! Tests of failures: killed processes, writes whose answers are lost, and expired connections.
//!
//! They share `support` with the e2e tests, so they are compiled into the same binary.

pub(crate) mod approvals;
pub(crate) mod expired_connections;
pub(crate) mod kills;
pub(crate) mod lost_answers;
pub(crate) mod restarts;
