//! Counters: the runs per minute of each agent, the requests of each caller, the frames of each
//! connection, and the messages per second of each space.

pub mod frames;
pub(crate) mod quota;
pub(crate) mod rates;
pub(crate) mod seconds;
