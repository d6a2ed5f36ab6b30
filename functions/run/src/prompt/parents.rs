//! Writes `REPLIED TO`: the messages outside of the window to which the trigger and new messages
//! reply. A reply that shows its parent's number alone would mean nothing to a model.

use std::{collections::BTreeSet, sync::Arc};

use crate::prompt::{
    lines::Lines,
    placed::Placed,
    reading::{PARENTS_SHOWN, SpaceContext, parent_of},
    window::Window,
};

/// How much of the trigger's parent is shown, in characters.
const TRIGGER_CHARS: usize = 1_000;
/// How much of the parent of a new message is shown, in characters.
const NEW_CHARS: usize = 300;

/// Writes the parents that the window does not show: the one of the trigger, and those of new
/// messages from the newest on, in the order of the space.
pub(super) fn write_replied_to(
    trigger_space: &SpaceContext,
    window: &Window<'_>,
    lines: &Lines<'_>,
) -> Placed {
    let trigger = &trigger_space.trigger;
    let new = window.messages.iter().rev().map(Arc::as_ref).filter(|it| !lines.is_seen(it));
    let mut shown = BTreeSet::new();
    for seq in [trigger.as_ref()].into_iter().chain(new).filter_map(parent_of) {
        if shown.len() < PARENTS_SHOWN && !window.shows(seq) {
            shown.insert(seq);
        }
    }
    let mut text = Placed::plain("REPLIED TO:\n");
    let empty = text.len();
    for seq in shown {
        let Some(parent) = trigger_space.message(seq) else { continue };
        let is_of_trigger = parent_of(trigger) == Some(seq);
        let max_chars = if is_of_trigger { TRIGGER_CHARS } else { NEW_CHARS };
        text.append(&lines.line_apart(parent, max_chars));
    }
    if text.len() == empty { Placed::default() } else { text }
}
