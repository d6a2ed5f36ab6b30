//! Reports that most of a budget, or all of it, is used.

use smartspace_domain::steps::SystemMessage;

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: NAME, look };

const NAME: &str = "budget";

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    run.budgets.clone()
}

/// Such a text as a system message for people, when the run has no next step.
pub(crate) fn message(text: String) -> SystemMessage {
    SystemMessage { watcher: NAME.to_owned(), text }
}
