//! The names of members. Two agents of a space never have the same name, and no guest looks like
//! a member when it comes or gets another name.

use smartspace_domain::{
    Time,
    access::Caller,
    entities::{Entity, EntityType},
    ids::{EntityId, SpaceId},
    limits, mentions,
    names::look_alike::{self, Look},
};

use crate::{
    Error, Members, Result,
    spaces::{
        SpaceOverview,
        lines::{Reported, line_write},
        members::{TRIES, being_changed, roster_change},
        rosters::{MemberRecord, Roster},
    },
    table::{keys, write::Write},
};

impl Members<'_> {
    /// Gives a member the current name, description and limit of its entity. Does nothing if it has
    /// them already or is not a member.
    pub async fn rename(self, space: SpaceId, entity: &Entity, now: Time) -> Result<()> {
        for tries in 0..TRIES {
            let (roster, record) = match self.roster_and_record(space).await {
                Err(Error::NotFound(_)) => return Ok(()),
                found => found?,
            };
            let Some(member) = roster.member(entity.id).filter(|member| !member.describes(entity))
            else {
                return Ok(());
            };
            name_is_free(&roster, entity.id, entity.kind, &entity.name)?;
            let others = roster.members.iter().filter(|other| other.entity_id != entity.id);
            let described = member.clone().described(entity);
            let line = (member.name != described.name).then(|| {
                let by = Caller::Entity(entity.id);
                let reported = Reported { space, roster: &roster, by, at: now };
                reported.renamed(&member.name, described.sender())
            });
            let overview = SpaceOverview::of(&record.settings, others.chain([&described]));
            let overview = overview.after(line.as_ref());
            let mut writes = roster_change(space, &roster, &overview)?;
            // Only these: other changes to the member since then stay.
            let expression = "SET #name = :name, #about = :about, #chainLimit = :chainLimit";
            writes.push(
                Write::update(keys::member(space, entity.id), expression)
                    .value(":name", &described.name)?
                    .value(":about", &described.about)?
                    .value(":chainLimit", described.chain_limit)?,
            );
            writes.extend(line.map(|line| line_write(space, &line)).transpose()?);
            if self.change_roster(&writes).await?.is_none() {
                return Ok(());
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }
}

/// Fails if another agent of the space has this name, as mentions compare names.
pub fn name_is_free(roster: &Roster, id: EntityId, kind: EntityType, name: &str) -> Result<()> {
    let folded = mentions::fold(name);
    let taken = |other: &&MemberRecord| {
        other.entity_id != id
            && other.kind == EntityType::Agent
            && mentions::fold(&other.name) == folded
    };
    match (kind, roster.members.iter().find(taken)) {
        (EntityType::Agent, Some(other)) => Err(Error::Conflict(format!(
            "an agent named {:?} is in the space already ({})",
            other.name, other.entity_id
        ))),
        _ => Ok(()),
    }
}

/// The name of a guest that gives none.
const NAMELESS: &str = "Guest";
/// The longest beginning of a name that a number follows, in characters.
const BEGINNING_CHARS: usize = 120;

/// The name of a guest who comes: its own if it looks like no other member's, and for one that
/// gives none `Guest`, or `Guest 2` and so on.
pub(crate) fn guest_name(roster: &Roster, id: EntityId, name: Option<&str>) -> Result<String> {
    match name {
        Some(name) => guest_name_is_free(roster, id, name).map(|()| name.to_owned()),
        None => Ok(free_name(roster, id, NAMELESS)),
    }
}

/// Fails if a guest with this name could be taken for another member, or for the product. A guest
/// that is there does not keep others from a name: its own lines say that it is a guest.
pub fn guest_name_is_free(roster: &Roster, id: EntityId, name: &str) -> Result<()> {
    look_alike::check_guest(name).map_err(|error| error.at("/name"))?;
    if is_free(roster, id, name) {
        return Ok(());
    }
    let free = free_name(roster, id, name);
    Err(Error::Conflict(format!("{name} looks like a member's name; try {free}")))
}

fn is_free(roster: &Roster, id: EntityId, name: &str) -> bool {
    let look = Look::of(name);
    let others = roster.members.iter().filter(|other| other.entity_id != id);
    !others.into_iter().any(|other| Look::of(&other.name).is_like(&look))
}

/// A name with a number that looks like no other member's, or the name itself.
fn free_name(roster: &Roster, id: EntityId, name: &str) -> String {
    if is_free(roster, id, name) {
        return name.to_owned();
    }
    let beginning: String = name.trim().chars().take(BEGINNING_CHARS).collect();
    // There are fewer members than numbers, so one of them is free.
    let mut numbered = (2..=limits::MEMBERS + 2).map(|number| format!("{beginning} {number}"));
    let free = numbered.find(|numbered| is_free(roster, id, numbered));
    free.unwrap_or_else(|| id.to_string())
}
