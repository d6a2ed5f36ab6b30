//! Works on a claimed run until it ends.
//!
//! - [`worker`]: holds the lease, drives the loop, and stores and announces its end
//! - [`steps`]: one step after the other: ask the model, store its answer, run its calls, store
//!   their results
//! - [`state`]: the state of the run between two steps
//! - [`model_answer`]: one answer of a model, streamed while it is written
//! - [`news`]: reads messages that arrived in the active space while the run was at work

pub(crate) mod model_answer;
pub(crate) mod news;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod worker;
