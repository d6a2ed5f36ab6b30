//! What an agent should know before it begins: overdue goals, the time since its last run, a new summary.

use super::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "start", look };

fn look(at: &Look<'_>) -> Option<String> {
    (at.step == 0 && !at.start.is_empty()).then(|| at.start.join(" "))
}
