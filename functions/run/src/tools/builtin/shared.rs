//! Code that several built-in tools share. A file here is no tool.

pub(crate) mod absorbed_work;
pub(crate) mod agent_state;
pub(crate) mod history;
pub(crate) mod own_runs;
