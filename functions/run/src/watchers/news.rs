//! Reports messages that were posted to the active space since the last step.

use crate::watchers::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "news", look };

fn look(at: &Look<'_>) -> Vec<String> {
    at.news.clone().into_iter().collect()
}
