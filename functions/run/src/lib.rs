//! A run: what an agent does after it was triggered.
//!
//! The way of a run through this crate, top down:
//!
//! 1. `claiming` has the entry, [`Runs::handle`]. It claims the run and at the same time reads what
//!    the prompt needs, assembles the worker, and ends a run that nobody can work on.
//! 2. `agent_loop::worker` holds the lease, drives the loop, and stops when it loses the run.
//! 3. `prompt` writes the prompt.
//! 4. `agent_loop::steps` is the loop: ask the model, store its answer, run its calls, store their
//!    results. `agent_loop::state` is the state between two steps. There the `watchers` look,
//!    and `agent_loop::news` reads new messages.
//! 5. `agent_loop::model_answer` reads one model answer. `streaming` shows its text in the space
//!    while the model writes it.
//! 6. `tools` are what an agent can do.
//!
//! `remote` is the webhook of an agent that works elsewhere.
//!
//! `dry_run` lets a fork work: the same loop, in which calls are answered from what the other run
//! did.
//!
//! The modules are a stack, and none uses one above it. From the bottom: `counters`,
//! `job_visibility`, `model_files`, `dry_run` and `streaming`; `prompt` and `watchers`;
//! `run_context`; `tools`; `remote` and `agent_loop`; `claiming`.
//!
//! `prompt::summary` works outside of runs: it summarizes older history.
//! [`counters`] counts work in progress.
//!
//! `docs/internals/` has a page each for prompts, tool calls (`calls.md`) and remote agents.

mod agent_loop;
mod claiming;
pub mod counters;
mod dry_run;
mod job_visibility;
mod model_files;
mod prompt;
mod remote;
mod run_context;
mod streaming;
mod summaries;
mod tools;
mod watchers;

pub use crate::{claiming::Runs, remote::Callbacks};
