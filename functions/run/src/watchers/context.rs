//! Reports how much of the model's context window is used.

use crate::watchers::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "context", look };

/// Percentages that are reported, highest first. Only the highest one reached is reported.
const THRESHOLDS: [u64; 3] = [95, 85, 70];

fn look(at: &Look<'_>) -> Vec<String> {
    let percent = at.tokens.unwrap_or(0).saturating_mul(100) / at.window.max(1);
    let passed = THRESHOLDS.into_iter().find(|threshold| percent >= *threshold);
    let text = |passed| {
        format!(
            "{passed} % of your context window is used. \
             Come to an end before it is full; what must outlast this run belongs in memories."
        )
    };
    passed.map(text).into_iter().collect()
}
