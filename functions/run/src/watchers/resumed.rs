//! Reports after a pause what the prompt, which is not written anew, can't show: who answered which
//! form, what time it is, and what changed meanwhile.

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: NAME, look };

pub(crate) const NAME: &str = "resumed";

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    run.resumed.clone().into_iter().collect()
}
