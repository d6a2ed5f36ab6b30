//! Promise 14: what people and agents do with messages holds. A deleted text is gone from what the
//! product stores, no state of a message follows its tombstone, a reaction counts once, and a reply
//! to an agent has one run or a reason.
//!
//! `originals` shows the other checks what was there before edits and deletions.

mod forgotten;
mod mentions;
mod originals;
mod reactions;
mod replies;
mod states;

use smartspace_domain::ids::SpaceId;
use tokio::time::Instant;

pub(super) use self::originals::{as_posted, restore_runs};
use crate::{oracle::Evidence, storage::Shown};

pub(super) fn changes_hold(evidence: &mut Evidence<'_>) {
    let shown = evidence.env.storage.shown();
    let mut found = forgotten::deleted_texts_are_gone(evidence, &shown);
    found.extend(forgotten::new_prompts_show_no_deleted_text(evidence, &shown));
    found.extend(forgotten::files_of_deleted_messages_are_gone(evidence));
    found.extend(states::no_state_follows_a_tombstone(&shown));
    found.extend(states::no_tombstone_is_pinned(evidence));
    found.extend(states::changes_are_as_they_were_answered(evidence, &shown));
    found.extend(states::people_see_stored_states(evidence, &shown));
    found.extend(reactions::a_reaction_counts_once(evidence));
    found.extend(reactions::frames_show_stored_reactions(evidence, &shown));
    found.extend(mentions::mentions_are_of_their_messages(evidence));
    found.extend(replies::a_thread_is_its_messages(evidence));
    found.extend(replies::a_reply_triggers_its_agent(evidence));
    for text in found {
        evidence.report(14, text);
    }
}

/// How prompts and the records of the storage call a message.
fn name(space: &SpaceId, seq: u64) -> String {
    format!("{space}#{seq}")
}

/// When a message became a tombstone.
fn deleted_at(shown: &Shown, message: &str) -> Option<Instant> {
    let states = shown.messages.get(message)?;
    states.iter().find(|state| !state.item["deleted"].is_null()).map(|state| state.at)
}
