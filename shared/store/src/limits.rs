//! Counters: the runs per minute of each agent, and the requests of each caller.

pub(crate) mod quota;
pub(crate) mod rates;
