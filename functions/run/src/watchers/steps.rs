//! Reports how many steps are left.

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "steps", look };

/// The number of steps left at the first report.
const THRESHOLD: u32 = 5;

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    match run.max_steps.saturating_sub(run.step) {
        1 => vec![
            "This is the last step of this run: \
             its calls are still made, but you will not see what comes of them."
                .into(),
        ],
        THRESHOLD if run.step > 0 => {
            vec![format!("{THRESHOLD} steps are left in this run.")]
        }
        _ => Vec::new(),
    }
}
