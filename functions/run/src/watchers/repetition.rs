//! Whether the model goes in circles. Inputs are not told: members of the space read what is said, and an input may come from another one.

use super::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "repetition", look };

/// So many calls of one tool with one input are worth a word.
const OFTEN: u32 = 3;

fn look(at: &Look<'_>) -> Vec<String> {
    let repeated = at.calls.into_iter().flatten().filter(|(_, times)| **times >= OFTEN);
    let mut tools: Vec<&str> = repeated.map(|((tool, _), _)| tool.as_str()).collect();
    tools.dedup();
    tools.into_iter().map(|tool| format!("{tool} was called {OFTEN} times with the same input. Another time gives nothing new.")).collect()
}
