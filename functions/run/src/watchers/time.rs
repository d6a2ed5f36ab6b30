//! Reports how much of the run's time is used.

use crate::prompt::format::Span;
use crate::watchers::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "time", look };

/// The percentage that is reported.
const THRESHOLD: u32 = 80;

fn look(at: &Look<'_>) -> Vec<String> {
    (at.step > 0 && at.used * 100 >= at.limit * THRESHOLD)
        .then(|| {
            format!(
                "{THRESHOLD} % of the time of this run is used; it ends {} after it began.",
                Span(at.limit)
            )
        })
        .into_iter()
        .collect()
}
