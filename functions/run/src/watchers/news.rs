//! What was said in the active space since the last step.

use super::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "news", look };

fn look(at: &Look<'_>) -> Option<String> {
    at.news.clone()
}
