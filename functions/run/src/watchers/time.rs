//! How much of the run's time is used.

use super::{Look, Watcher};
use crate::context::quoted::Span;

pub(super) const WATCHER: Watcher = Watcher { name: "time", look };

/// Where it speaks, in percent.
const THRESHOLD: u32 = 80;

fn look(at: &Look<'_>) -> Vec<String> {
    (at.step > 0 && at.used * 100 >= at.limit * THRESHOLD)
        .then(|| format!("{THRESHOLD} % of the time of this run is used; it ends {} after it began.", Span(at.limit)))
        .into_iter()
        .collect()
}
