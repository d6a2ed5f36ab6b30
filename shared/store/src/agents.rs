//! The state of agents: their memories, goals and plans.

pub mod context;
pub mod goals;
pub mod memories;
pub mod plans;
pub mod state;
