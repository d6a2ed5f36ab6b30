//! The state of agents: their memories, goals and plans, and what they may do without asking.

pub mod allowances;
pub mod context;
pub mod goals;
pub mod memories;
pub mod plans;
pub mod state;
