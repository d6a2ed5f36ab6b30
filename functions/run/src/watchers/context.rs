//! How much of the model's context window is used.

use super::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "context", look };

/// Where it speaks, in percent. Only the highest one that was passed is worth saying.
const THRESHOLDS: [u64; 3] = [95, 85, 70];

fn look(at: &Look<'_>) -> Option<String> {
    let percent = at.tokens?.saturating_mul(100) / at.window.max(1);
    let passed = THRESHOLDS.into_iter().find(|threshold| percent >= *threshold)?;
    Some(format!(
        "{passed} % of your context window is used. Come to an end before it is full; what must outlast this run belongs in memories."
    ))
}
