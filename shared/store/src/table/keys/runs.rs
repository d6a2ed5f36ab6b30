//! The items of runs.

use smartspace_domain::ids::{CallId, RunId, SpaceId};

use crate::table::keys::{ACTIVE_RUN, Key};

/// The prefix of the partitions of runs.
pub const RUN: &str = "RUN#";

/// The partition of a run.
pub fn run(id: RunId) -> String {
    format!("{RUN}{id}")
}

/// The state of a run.
pub fn run_meta(id: RunId) -> Key {
    Key::new(run(id), "META")
}

/// Whether this is the key of a run's state.
pub fn is_run_meta(key: &Key) -> bool {
    key.pk.starts_with(RUN) && key.sk == "META"
}

/// Why a run failed.
pub fn run_error(id: RunId) -> Key {
    Key::new(run(id), "ERROR")
}

/// The part of a run's trigger that is not in a message.
pub fn run_trigger(id: RunId) -> Key {
    Key::new(run(id), "TRIGGER")
}

/// The changes of a fork to the run that it replays.
pub fn run_fork(id: RunId) -> Key {
    Key::new(run(id), "FORK")
}

/// The prefix of the spaces that show a run, besides the first one.
const SHOWN_IN: &str = "SHOWN#";

/// Lists a run among the active ones of a further space that shows it.
pub fn run_shown_in(id: RunId, space: SpaceId) -> Key {
    Key::new(run(id), format!("{SHOWN_IN}{space}"))
}

/// The run that an item lists as active: its copy in its agent's context, or the item of a further
/// space that shows it.
pub fn listed_run(key: &Key) -> Option<RunId> {
    let id = if key.sk.starts_with(SHOWN_IN) {
        key.pk.strip_prefix(RUN)
    } else {
        key.sk.strip_prefix(ACTIVE_RUN)
    };
    id?.parse().ok()
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

/// The prefix of a run's model answers.
pub const STEP: &str = "STEP#";

pub fn step(id: RunId, step: u32) -> Key {
    Key::new(run(id), format!("{STEP}{step:03}"))
}

pub fn call(id: RunId, step: u32, index: u32) -> Key {
    Key::new(run(id), format!("{CALL}{step:03}#{index:03}"))
}

/// The prefix of a run's forms.
pub const FORM: &str = "FORM#";

pub fn form(id: RunId, call: CallId) -> Key {
    Key::new(run(id), format!("{FORM}{call}"))
}
