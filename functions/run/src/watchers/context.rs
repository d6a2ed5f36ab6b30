//! Reports how much of the model's context window is used.

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "context", look };

/// Percentages that are reported, highest first. Only the highest one reached is reported.
const THRESHOLDS: [u64; 3] = [95, 85, 70];

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    let percent = run.tokens.unwrap_or(0).saturating_mul(100) / run.window.max(1);
    let passed = THRESHOLDS.into_iter().find(|threshold| percent >= *threshold);
    let text = |passed| {
        format!(
            "{passed} % of your context window is used. \
             Come to an end before it is full; what must outlast this run belongs in memories."
        )
    };
    passed.map(text).into_iter().collect()
}
