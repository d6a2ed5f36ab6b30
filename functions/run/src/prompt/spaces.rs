//! Writes `YOUR SPACES` and `ACTIVE SPACE`. The types of members, and what the agents among them
//! do, stand here once.

use smartspace_domain::{agents::SpacesShown, ids::SpaceId, messages::Sender};
use smartspace_store::spaces::{Card, CardMember};

use crate::prompt::{
    blocks::block,
    quoted::{Quoted, Thousands},
    reading::Gathered,
};

/// Writes the spaces that the agent is in. If `shown` allows the active space only, others are not
/// listed.
pub(super) fn your_spaces(gathered: &Gathered, shown: SpacesShown) -> String {
    let active = gathered.place.as_ref().map(|place| place.space.id);
    let listed =
        gathered.cards.iter().filter(|(id, _)| shown == SpacesShown::All || Some(**id) == active);
    let lines: Vec<_> = listed.map(|(id, card)| space(gathered, *id, card)).collect();
    let more = if shown == SpacesShown::All {
        gathered.space_count.saturating_sub(lines.len())
    } else {
        0
    };
    block("YOUR SPACES", lines, more)
}

fn space(gathered: &Gathered, id: SpaceId, card: &Card) -> String {
    let place = gathered.place.as_ref().filter(|place| place.space.id == id);
    let mut members: Vec<String> = card
        .members
        .iter()
        .map(|CardMember { sender, about }| {
            let about = about.as_ref().filter(|_| place.is_some());
            member(gathered, sender, about.map(String::as_str))
        })
        .collect();
    if card.count > card.members.len() {
        members.push(format!("… {} more", Thousands((card.count - card.members.len()) as u64)));
    }
    let left = place.iter().flat_map(|place| &place.left);
    members.extend(left.map(|sender| format!("{} (left)", member(gathered, sender, None))));
    format!("{} ({id}) — {}", Quoted(&card.name), members.join(", "))
}

/// Writes a member's name and type, and what an agent of the active space does.
fn member(gathered: &Gathered, sender: &Sender, about: Option<&str>) -> String {
    if sender.id == gathered.agent.id {
        return gathered.names.of(sender);
    }
    let about = about.map_or_else(String::new, |about| format!(": {}", Quoted(about)));
    format!("{} ({}{about})", gathered.names.of(sender), sender.kind.as_str())
}

/// Writes the space that the agent posts to, with those of its members who wrote and whom
/// `YOUR SPACES` does not list. They change too often to stand there.
pub(super) fn active_space(gathered: &Gathered) -> String {
    let Some(place) = &gathered.place else {
        let is_remote = gathered.agent.agent.as_ref().is_some_and(|it| it.runtime.is_some());
        let hint = if is_remote { "" } else { " (call enter_space first)" };
        return format!("ACTIVE SPACE: none{hint}\n");
    };
    let unlisted: Vec<_> =
        place.unlisted.iter().map(|sender| member(gathered, sender, None)).collect();
    let unlisted = if unlisted.is_empty() {
        String::new()
    } else {
        format!(" — also here: {}", unlisted.join(", "))
    };
    format!("ACTIVE SPACE: {} ({}){unlisted}\n", Quoted(&place.space.settings.name), place.space.id)
}
