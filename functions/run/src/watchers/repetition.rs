//! Reports calls that the model repeats. The message names the tool but not its input: the members
//! of the space can read the message, and the input may come from another space.

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "repetition", look };

/// Calls of one tool with the same input before they are reported.
const THRESHOLD: u32 = 3;

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    let repeated = run.calls.into_iter().flatten().filter(|(_, times)| **times >= THRESHOLD);
    let mut tools: Vec<&str> = repeated.map(|((tool, _), _)| tool.as_str()).collect();
    tools.dedup();
    let text = |tool| {
        format!(
            "{tool} was called {THRESHOLD} times with the same input. \
             Another time gives nothing new."
        )
    };
    tools.into_iter().map(text).collect()
}
