//! The items of runs.

use smartspace_domain::ids::{CallId, RunId};

use crate::table::keys::Key;

/// The partition of a run.
pub fn run(id: RunId) -> String {
    format!("RUN#{id}")
}

/// The state of a run.
pub fn run_meta(id: RunId) -> Key {
    Key::new(run(id), "META")
}

/// Whether this is the key of a run's state.
pub fn is_run_meta(key: &Key) -> bool {
    key.pk.starts_with("RUN#") && key.sk == "META"
}

/// Why a run failed.
pub fn run_error(id: RunId) -> Key {
    Key::new(run(id), "ERROR")
}

/// The part of a run's trigger that is not in a message.
pub fn run_trigger(id: RunId) -> Key {
    Key::new(run(id), "TRIGGER")
}

/// The first prompt of a run.
pub fn run_prompt(id: RunId) -> Key {
    Key::new(run(id), "PROMPT")
}

/// A part of prompts that runs share, by its hash.
pub fn prompt_part(hash: &str) -> Key {
    Key::new(format!("PART#{hash}"), "META")
}

/// The prefix of a run's tool calls.
pub const CALL: &str = "CALL#";

/// A finished model answer.
pub fn step(id: RunId, step: u32) -> Key {
    Key::new(run(id), format!("STEP#{step:03}"))
}

/// A tool call.
pub fn call(id: RunId, step: u32, index: u32) -> Key {
    Key::new(run(id), format!("{CALL}{step:03}#{index:03}"))
}

/// The prefix of a run's forms.
pub const FORM: &str = "FORM#";

/// A form.
pub fn form(id: RunId, call: CallId) -> Key {
    Key::new(run(id), format!("{FORM}{call}"))
}
