//! What prompts show of messages apart from their history: pinned messages, parents of replies, and
//! reactions.

use serde_json::Value;

use crate::{
    ledger::{ChangeKind, Ledger, Line, ModelRequest},
    oracle::{prompts::Span, stored::reaction_counts},
    storage::Shown,
};

/// What is wrong with the parents of replies and the reactions that a prompt shows, besides the
/// content of the lines.
pub(super) fn wrong_blocks(
    ledger: &Ledger,
    shown: &Shown,
    ask: &ModelRequest,
    span: Span,
) -> Vec<String> {
    let mut found = never_pinned(ledger, ask);
    found.extend(wrong_parents(ask));
    found.extend(missing_parent(ask));
    found.extend(wrong_reactions(shown, ask, span));
    found
}

/// Messages in `PINNED` that nobody had asked to pin.
fn never_pinned(ledger: &Ledger, ask: &ModelRequest) -> Vec<String> {
    let mut found = Vec::new();
    for line in &ask.apart.pinned {
        let is_it = |space: &str, seq: u64| space == ask.space && Some(seq) == line.number();
        let mut pins = ledger.changes.iter().filter(|it| it.kind == ChangeKind::Pin);
        if !pins.any(|pin| is_it(&pin.space.to_string(), pin.seq) && pin.sent <= ask.sent) {
            found.push(format!("was shown {} as pinned, which nobody has pinned", line.message));
        }
    }
    found
}

/// Messages in `REPLIED TO` to which no message replies, or that the history has.
fn wrong_parents(ask: &ModelRequest) -> Vec<String> {
    let mut found = Vec::new();
    // Tombstones and a trigger outside of the history do not say to what they reply.
    let has_trigger = ask.lines.iter().any(|line| line.message == ask.trigger_line);
    let is_known = has_trigger && !ask.lines.iter().any(Line::is_deleted);
    for parent in &ask.apart.parents {
        let is_parent = ask.lines.iter().any(|line| line.parent == parent.number());
        let is_shown = ask.lines.iter().any(|line| line.message == parent.message);
        if is_known && !is_parent || is_shown {
            found.push(format!("was shown {} among parents", parent.message));
        }
    }
    found
}

/// The parent of the trigger, if the prompt has it nowhere.
fn missing_parent(ask: &ModelRequest) -> Option<String> {
    let trigger = ask.lines.iter().find(|line| line.message == ask.trigger_line)?;
    let parent = format!("{}#{}", ask.space, trigger.parent?);
    let mut lines = ask.lines.iter().chain(&ask.apart.parents);
    (!lines.any(|line| line.message == parent))
        .then(|| format!("was not shown {parent}, to which the trigger replies"))
}

/// Reactions that were not stored.
fn wrong_reactions(shown: &Shown, ask: &ModelRequest, span: Span) -> Option<String> {
    ask.apart.reactions.iter().find_map(|(seq, reactions)| {
        let message = format!("{}#{seq}", ask.space);
        let states = shown.reactions.get(&message).map(Vec::as_slice).unwrap_or_default();
        let is_it = |item: &Value| reaction_counts(item) == *reactions;
        (!span.states(states).any(is_it))
            .then(|| format!("was shown {reactions:?} as the reactions to {message}"))
    })
}
