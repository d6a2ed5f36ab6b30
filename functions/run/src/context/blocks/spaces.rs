//! `YOUR SPACES` and `ACTIVE SPACE`: where the agent is a member, and where it would speak.

use std::fmt::Write;

use smartspace_domain::{agents::SpacesShown, entities::Entity};
use smartspace_store::spaces::Card;

use super::{
    super::{
        quoted::{Quoted, Thousands, Who},
        reading::Gathered,
    },
    block,
};

/// Where it is a member. An agent that is told of the active space only has no list of others.
pub(crate) fn your_spaces(gathered: &Gathered, shown: SpacesShown) -> String {
    let active = gathered.place.as_ref().map(|place| place.space.id);
    let listed = gathered.cards.iter().filter(|(id, _)| shown == SpacesShown::All || Some(**id) == active);
    let lines: Vec<_> =
        listed.map(|(id, card)| format!("{} (id: {id}) — {}", Quoted(&card.name), members(card, &gathered.agent))).collect();
    let more = if shown == SpacesShown::All { gathered.space_count.saturating_sub(lines.len()) } else { 0 };
    block("YOUR SPACES", lines, more)
}

fn members(card: &Card, me: &Entity) -> String {
    let named = card.members.iter().map(|member| if member.id == me.id { "You".to_owned() } else { Who(member).to_string() });
    let mut text = named.collect::<Vec<_>>().join(", ");
    if card.count > card.members.len() {
        // Writing to a String can't fail.
        let _ = write!(text, ", … {} more", Thousands((card.count - card.members.len()) as u64));
    }
    text
}

/// Where it would speak.
pub(crate) fn active_space(gathered: &Gathered) -> String {
    match &gathered.place {
        Some(place) => format!("ACTIVE SPACE: {} (id: {})\n", Quoted(&place.space.settings.name), place.space.id),
        None => "ACTIVE SPACE: none (call enter_space first)\n".to_owned(),
    }
}
