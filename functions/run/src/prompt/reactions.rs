//! Writes `REACTIONS`: how members reacted to the last messages. It is one line behind the history,
//! so that a reaction leaves the part of the prompt alone that providers cache.

use smartspace_domain::{
    ids::EntityId,
    messages::{Reaction, Sender},
};

use crate::prompt::reading::{PromptSources, SpaceContext};

/// The most names that stand for the reactions with one emoji. More are a number.
const NAMED: usize = 3;

/// Writes the reactions to the last messages of the space, the newest message first.
pub(super) fn write_reactions(sources: &PromptSources) -> String {
    let Some(trigger_space) = &sources.trigger_space else { return String::new() };
    let shown = trigger_space.reactions.iter().rev().filter(|(_, given)| !given.is_empty());
    let written: Vec<String> = shown
        .map(|(seq, given)| {
            let given: Vec<_> =
                given.iter().map(|one| one_emoji(sources, trigger_space, one)).collect();
            format!("#{seq} {}", given.join(" "))
        })
        .collect();
    if written.is_empty() { String::new() } else { format!("REACTIONS: {}\n", written.join("; ")) }
}

/// Writes an emoji with those who reacted with it, or with how many did.
fn one_emoji(sources: &PromptSources, trigger_space: &SpaceContext, given: &Reaction) -> String {
    let Reaction { emoji, count, entity_ids } = given;
    let known = |id: &EntityId| Some(sources.names.of(sender(sources, trigger_space, *id)?));
    let names: Option<Vec<String>> = entity_ids.iter().take(NAMED + 1).map(known).collect();
    match names {
        Some(names) if *count <= NAMED => format!("{emoji} {}", names.join(", ")),
        _ => format!("{emoji} {count}"),
    }
}

/// The member or sender with this id, as far as the prompt knows it.
fn sender<'a>(
    sources: &'a PromptSources,
    trigger_space: &'a SpaceContext,
    id: EntityId,
) -> Option<&'a Sender> {
    let card = sources.cards.get(&trigger_space.space.id);
    let listed = card.iter().flat_map(|card| &card.members).map(|member| &member.sender);
    let others = trigger_space.messages.iter().map(|message| &message.sender);
    listed.chain(others).find(|sender| sender.id == id)
}
