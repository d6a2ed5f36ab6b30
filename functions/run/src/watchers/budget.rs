//! Reports that most of a budget, or all of it, is used.

use smartspace_domain::steps::SystemMessage;

use crate::watchers::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: NAME, look };

const NAME: &str = "budget";

fn look(at: &Look<'_>) -> Vec<String> {
    at.budgets.clone()
}

/// The same for people, after the last step.
pub(crate) fn message(text: String) -> SystemMessage {
    SystemMessage { watcher: NAME.to_owned(), text }
}
