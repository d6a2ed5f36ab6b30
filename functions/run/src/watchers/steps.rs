//! Reports how many steps are left.

use crate::watchers::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "steps", look };

/// The number of steps left at the first report.
const FEW: u32 = 5;

fn look(at: &Look<'_>) -> Vec<String> {
    match at.max_steps.saturating_sub(at.step) {
        1 => vec![
            "This is the last step of this run: \
             its calls are still made, but you will not see what comes of them."
                .into(),
        ],
        FEW if at.step > 0 => vec![format!("{FEW} steps are left in this run.")],
        _ => Vec::new(),
    }
}
