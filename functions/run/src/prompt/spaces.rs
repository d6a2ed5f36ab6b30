//! Writes `YOUR SPACES` and `ACTIVE SPACE`. The types of members and the work of agents are written
//! here, so that the lines of a timeline need not repeat them.

use smartspace_domain::{
    agents::SpacesShown,
    ids::SpaceId,
    messages::Sender,
    system_lines::{LineKind, SystemLine},
};
use smartspace_store::spaces::{OverviewMember, SpaceOverview};

use crate::prompt::{
    format::{Quoted, Thousands},
    lists::write_list,
    names::Names,
    reading::PromptSources,
    waking::{UNKNOWN_YET, write_waking},
};

/// Writes the spaces that the agent is in. If `shown` allows the active space only, others are not
/// listed.
pub(super) fn write_your_spaces(sources: &PromptSources, shown: SpacesShown) -> String {
    let active = sources.trigger_space.as_ref().map(|it| it.space.id);
    let listed =
        sources.cards.iter().filter(|(id, _)| shown == SpacesShown::All || Some(**id) == active);
    let lines: Vec<_> = listed.map(|(id, card)| space_line(sources, *id, card)).collect();
    let more =
        if shown == SpacesShown::All { sources.space_count.saturating_sub(lines.len()) } else { 0 };
    write_list("YOUR SPACES", lines, more)
}

fn space_line(sources: &PromptSources, id: SpaceId, card: &SpaceOverview) -> String {
    let trigger_space = sources.trigger_space.as_ref().filter(|it| it.space.id == id);
    let mut members = members(&sources.names, card, trigger_space.is_some());
    let left = trigger_space.iter().flat_map(|it| &it.left);
    members.extend(left.map(|sender| format!("{} (left)", member(&sources.names, sender, None))));
    format!("{} ({id}) — {}", Quoted(&card.name), members.join(", "))
}

/// Writes the members of a space, those of the active one with what agents do.
fn members(names: &Names, card: &SpaceOverview, is_active: bool) -> Vec<String> {
    let mut members: Vec<String> = card
        .members
        .iter()
        .map(|OverviewMember { sender, about, .. }| {
            let about = about.as_ref().filter(|_| is_active);
            member(names, sender, about.map(String::as_str))
        })
        .collect();
    if card.count > card.members.len() {
        members.push(format!("… {} more", Thousands((card.count - card.members.len()) as u64)));
    }
    members
}

/// Writes a member's name and type, and what an agent of the active space does.
fn member(names: &Names, sender: &Sender, about: Option<&str>) -> String {
    if names.is_me(sender.id) {
        return names.of(sender);
    }
    let about = about.map_or_else(String::new, |about| format!(": {}", Quoted(about)));
    format!("{} ({}{about})", names.of(sender), sender.kind.as_str())
}

/// Writes the space that a run has entered, with its members.
pub(crate) fn write_entered_space(names: &Names, id: SpaceId, card: &SpaceOverview) -> String {
    let members = members(names, card, true).join(", ");
    format!("ACTIVE SPACE: {} ({id}) — {members}\n", Quoted(&card.name))
}

/// Writes the space that the agent posts to, with members that have written and are not listed in
/// `YOUR SPACES`. Those change too often to be listed there. Then it says whom a message wakes,
/// unless `chain_ends`: then `TRIGGER` says that it wakes nobody.
pub(super) fn write_active_space(sources: &PromptSources, chain_ends: bool) -> String {
    let Some(trigger_space) = &sources.trigger_space else {
        let is_remote = sources.agent.agent.as_ref().is_some_and(|it| it.runtime.is_some());
        return if is_remote {
            "ACTIVE SPACE: none\n".to_owned()
        } else {
            format!("ACTIVE SPACE: none (call enter_space first)\n{UNKNOWN_YET}\n")
        };
    };
    let unlisted: Vec<_> =
        trigger_space.unlisted.iter().map(|sender| member(&sources.names, sender, None)).collect();
    let unlisted = if unlisted.is_empty() {
        String::new()
    } else {
        format!(" — also here: {}", unlisted.join(", "))
    };
    let settings = &trigger_space.space.settings;
    let id = trigger_space.space.id;
    // `YOUR SPACES` has the id. It is repeated here only if another space listed there has the
    // same name.
    let config = sources.agent.agent.as_ref();
    let lists_all = config.is_some_and(|config| config.spaces_shown() == SpacesShown::All);
    let mut others = sources.cards.iter().filter(|(other, _)| lists_all && **other != id);
    let has_namesake = others.any(|(_, card)| card.name == settings.name);
    let shown_id = if has_namesake { format!(" ({id})") } else { String::new() };
    let waking = if chain_ends {
        String::new()
    } else {
        format!("{}\n", write_waking(settings, sources.cards.get(&id)))
    };
    let changed = sources.cards.get(&id).and_then(|card| card.changed.as_ref());
    // An agent that has read later messages has seen what followed.
    let changed = changed.filter(|line| line.after_seq >= trigger_space.member.cursor);
    let changed = changed.and_then(|line| write_changed(&sources.names, line)).unwrap_or_default();
    format!("ACTIVE SPACE: {}{shown_id}{unlisted}\n{changed}{waking}", Quoted(&settings.name))
}

/// Writes the last change of a space. Names are data of others, so they are quoted.
fn write_changed(names: &Names, line: &SystemLine) -> Option<String> {
    let who = || {
        let member = line.member.as_ref()?;
        let is_me = names.is_me(member.id);
        Some(if is_me { "you".to_owned() } else { Quoted(&member.name).to_string() })
    };
    let texts = || Some((Quoted(line.from.as_ref()?), Quoted(line.to.as_ref()?)));
    let text = match line.kind {
        LineKind::Joined => format!("{} joined", who()?),
        LineKind::Left => format!("{} left", who()?),
        LineKind::Renamed => {
            let (from, to) = texts()?;
            let what = if line.member.is_some() { "" } else { "the space " };
            format!("{what}{from} is now {to}")
        }
        LineKind::PolicyChanged => {
            let (from, to) = texts()?;
            format!("the space's policy is now {to}, and was {from}")
        }
        LineKind::Resumed => "the space is no longer paused".to_owned(),
        LineKind::ChainStopped => {
            format!("people stopped what #{} had set off: it wakes nobody here", line.seq?)
        }
        // No agent works in a space that is paused.
        LineKind::Paused | LineKind::Stopped => return None,
    };
    Some(format!("CHANGED: {text}.\n"))
}
