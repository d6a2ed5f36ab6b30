//! Reports messages that were posted to the active space since the last step.

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "news", look };

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    run.news.clone().into_iter().collect()
}
