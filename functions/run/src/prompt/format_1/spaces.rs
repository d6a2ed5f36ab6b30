//! Writes `YOUR SPACES` and `ACTIVE SPACE`: the spaces that the agent is in, and the one that it
//! posts to.

use std::fmt::Write;

use smartspace_domain::{agents::SpacesShown, entities::Entity};
use smartspace_store::spaces::{Card, CardMember};

use crate::prompt::{
    blocks::{Layout, block},
    quoted::{NameAndKind, Quoted, Thousands},
    reading::Gathered,
};

/// Writes the spaces that the agent is in. If `shown` allows the active space only, others are not
/// listed.
pub(super) fn your_spaces(gathered: &Gathered, shown: SpacesShown) -> String {
    let active = gathered.place.as_ref().map(|place| place.space.id);
    let listed =
        gathered.cards.iter().filter(|(id, _)| shown == SpacesShown::All || Some(**id) == active);
    let lines: Vec<_> = listed
        .map(|(id, card)| {
            format!("{} (id: {id}) — {}", Quoted(&card.name), members(card, &gathered.agent))
        })
        .collect();
    let more = if shown == SpacesShown::All {
        gathered.space_count.saturating_sub(lines.len())
    } else {
        0
    };
    block("YOUR SPACES", lines, more, Layout::Indented)
}

fn members(card: &Card, me: &Entity) -> String {
    let names = card.members.iter().map(|CardMember { sender, .. }| {
        if sender.id == me.id { "You".to_owned() } else { NameAndKind(sender).to_string() }
    });
    let mut text = names.collect::<Vec<_>>().join(", ");
    if card.count > card.members.len() {
        // Writing to a String can't fail.
        let _ = write!(text, ", … {} more", Thousands((card.count - card.members.len()) as u64));
    }
    text
}

/// Writes the space that the agent posts to.
pub(super) fn active_space(gathered: &Gathered) -> String {
    match &gathered.place {
        Some(place) => format!(
            "ACTIVE SPACE: {} (id: {})\n",
            Quoted(&place.space.settings.name),
            place.space.id
        ),
        None => "ACTIVE SPACE: none (call enter_space first)\n".to_owned(),
    }
}
