//! Whether the model goes in circles.

use super::{Look, Watcher};
use crate::context::quoted::{Excerpt, Name};

pub(super) const WATCHER: Watcher = Watcher { name: "repetition", look };

/// So many calls of one tool with one input are worth a word.
const OFTEN: u32 = 3;
/// What of the input is shown, in characters.
const INPUT_CHARS: usize = 200;

fn look(at: &Look<'_>) -> Option<String> {
    let repeated = at.calls?.iter().filter(|(_, times)| **times >= OFTEN);
    let lines: Vec<_> = repeated.map(|((tool, input), _)| format!("{} with {}", Name(tool), Excerpt(input, INPUT_CHARS))).collect();
    (!lines.is_empty()).then(|| format!("The same call was made {OFTEN} times: {}. Making it again gives nothing new.", lines.join("; ")))
}
