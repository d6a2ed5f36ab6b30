//! The life of a run: steps, cancellation, agent state, delegation, budgets.

pub(crate) mod agent_state;
pub(crate) mod budgets;
pub(crate) mod cancel;
pub(crate) mod ceiling;
pub(crate) mod delegating;
pub(crate) mod fork;
pub(crate) mod listing;
pub(crate) mod one_answer;
pub(crate) mod own_runs;
pub(crate) mod reminders;
pub(crate) mod remote;
pub(crate) mod retry;
pub(crate) mod revisions;
pub(crate) mod run_details;
pub(crate) mod steps;
pub(crate) mod stops;
pub(crate) mod turns;
pub(crate) mod what_is_read;
