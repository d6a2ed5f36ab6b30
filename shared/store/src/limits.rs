//! Counters: the runs per minute of each agent, the requests of each caller, the frames of each
//! connection, the messages per second of each space, and what was spent of the budgets of a day.

pub mod budget_counters;
pub mod frames;
pub(crate) mod quota;
pub(crate) mod rates;
pub(crate) mod seconds;
