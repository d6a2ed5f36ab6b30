//! A run: what an agent does after it was triggered.
//!
//! The way of a run through this crate, top down:
//!
//! 1. `claiming` has the entry, [`RunJobHandler::handle`]. It claims the run and at the same time
//!    reads the sources of the prompt. It assembles the worker, or ends a run that no worker can
//!    continue.
//! 2. `agent_loop::worker` holds the lease, drives the loop, and stops when it loses the run.
//! 3. `prompt` writes the prompt.
//! 4. `agent_loop::steps` is the loop: ask the model, store its answer, run its calls, store their
//!    results. `agent_loop::state` is the state between two steps. There the `watchers` look,
//!    and `agent_loop::news` reads new messages.
//! 5. `agent_loop::model_answer` reads one model answer. `streaming` shows its text in the space
//!    while the model writes it.
//! 6. `tools` are what an agent can do.
//!
//! `remote` has the webhook of a remote agent.
//!
//! `dry_run` answers the calls of a fork from the results of the run that it replays.
//!
//! The modules are a stack, and none uses one above it. From the bottom: `counters`,
//! `job_visibility`, `model_files`, `dry_run` and `streaming`; `prompt` and `watchers`;
//! `summaries` and `run_context`; `tools`; `remote` and `agent_loop`; `claiming`.
//!
//! `summaries` works outside of runs: it summarizes older history.
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

pub use crate::{claiming::RunJobHandler, remote::Callbacks};
