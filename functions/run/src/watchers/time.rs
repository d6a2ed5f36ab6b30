//! Reports how much of the run's time is used.

use crate::prompt::format::Span;
use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "time", look };

/// The percentage that is reported.
const THRESHOLD: u32 = 80;

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    (run.step > 0 && run.time_worked * 100 >= run.time_limit * THRESHOLD)
        .then(|| {
            format!(
                "{THRESHOLD} % of the time of this run is used; it ends {} after it began.",
                Span(run.time_limit)
            )
        })
        .into_iter()
        .collect()
}
