//! Reports how much of the model's context window is used, and that results were shortened to make
//! room in it.

use smartspace_domain::steps::SystemMessage;

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: NAME, look };

const NAME: &str = "context";

/// The percentage from which on the model is warned that results will be shortened.
const WARNED_PERCENT: u64 = 70;
/// Percentages that are reported because shortened results did not help, highest first. Only the
/// highest one reached is reported.
const FULL_PERCENTS: [u64; 2] = [95, 85];

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    let percent = run.tokens.unwrap_or(0).saturating_mul(100) / run.window.max(1);
    // The results were shortened before this look, if that was possible.
    let full = FULL_PERCENTS.into_iter().find(|full| percent >= *full);
    let fills = match full {
        Some(full) => Some(nearly_full(full, run.has_memories)),
        None => (percent >= WARNED_PERCENT).then(|| {
            "When your context is full, old results are shortened. \
             Note in your text what you still need."
                .to_owned()
        }),
    };
    run.shortened.map(shortened).into_iter().chain(fills).collect()
}

/// The report of shortened results as a system message, if the watchers have looked already.
pub(crate) fn message(results: u32) -> SystemMessage {
    SystemMessage { watcher: NAME.to_owned(), text: shortened(results) }
}

/// Reports that the first results of a run were shortened.
fn shortened(results: u32) -> String {
    match results {
        1 => "The first result was shortened; call again if you need it.".to_owned(),
        many => format!("The first {many} results were shortened; call again for what you need."),
    }
}

fn nearly_full(percent: u64, has_memories: bool) -> String {
    let memories =
        if has_memories { "; what must outlast this run belongs in memories" } else { "" };
    format!(
        "{percent} % of your context window is used, and no old result is left to shorten. \
         Come to an end before it is full{memories}."
    )
}
