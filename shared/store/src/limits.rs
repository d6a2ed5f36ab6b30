//! Counters: runs per minute by agent, and requests by caller.

pub(crate) mod quota;
pub(crate) mod rates;
