//! Reports calls that the model repeats. The message names the tool but not its input: the members
//! of the space can read the message, and the input may come from another space.

use crate::watchers::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "repetition", look };

/// Calls of one tool with the same input before they are reported.
const OFTEN: u32 = 3;

fn look(at: &Look<'_>) -> Vec<String> {
    let repeated = at.calls.into_iter().flatten().filter(|(_, times)| **times >= OFTEN);
    let mut tools: Vec<&str> = repeated.map(|((tool, _), _)| tool.as_str()).collect();
    tools.dedup();
    let text = |tool| {
        format!(
            "{tool} was called {OFTEN} times with the same input. Another time gives nothing new."
        )
    };
    tools.into_iter().map(text).collect()
}
