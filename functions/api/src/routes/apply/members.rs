//! The members of a space that a file names. The others are left alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use smartspace_domain::{
    field_changes::FieldChange,
    ids::EntityId,
    projects::{AppliedFields, Drift, MemberSpec, drift_of},
    spaces::Role,
};
use smartspace_store::spaces::rosters::Roster;

/// The members of a space as its file wants them.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Those that the file names, with the role if it names one.
    pub(super) named: Vec<MemberSpec>,
    /// Those that the file named before.
    pub(super) dropped: Vec<EntityId>,
    pub(super) changes: Vec<FieldChange>,
    pub(super) drift: Vec<Drift>,
    /// The fields to store as applied when all have joined or left.
    pub(super) applied: AppliedFields,
}

impl Wanted {
    pub(super) fn of(
        named: Vec<MemberSpec>,
        before: Option<&AppliedFields>,
        roster: Option<&Roster>,
    ) -> Self {
        let nothing = AppliedFields::new();
        let before = before.unwrap_or(&nothing);
        // A role that left the file returns to the default.
        let named: Vec<_> = named
            .into_iter()
            .map(|member| {
                let had_role = before.contains_key(&role_of(member.id));
                MemberSpec { role: member.role.or(had_role.then_some(Role::Member)), ..member }
            })
            .collect();
        let wanted: BTreeMap<EntityId, Option<Role>> =
            named.iter().map(|member| (member.id, member.role)).collect();
        let dropped: Vec<EntityId> = before
            .keys()
            .filter_map(|pointer| pointer.strip_prefix("/members/")?.parse().ok())
            .filter(|id| !wanted.contains_key(id))
            .collect();
        let is_now = |id: EntityId| roster.and_then(|roster| roster.member(id));
        let now = |pointer: &str| match part(pointer) {
            Some((id, false)) => is_now(id).map_or(Value::Null, |_| json!(true)),
            Some((id, true)) => is_now(id).map_or(Value::Null, |member| json!(member.role)),
            None => Value::Null,
        };
        let after = |pointer: &str| match part(pointer) {
            Some((id, false)) => wanted.get(&id).map_or(Value::Null, |_| json!(true)),
            Some((id, true)) => wanted.get(&id).map_or(Value::Null, |role| json!(role)),
            None => Value::Null,
        };
        let drift = drift_of(before, now, after);
        let mut changes = Vec::new();
        let mut applied = AppliedFields::new();
        for (id, role) in &wanted {
            let pointers = [Some(is_member(*id)), role.map(|_| role_of(*id))];
            for pointer in pointers.into_iter().flatten() {
                changes.extend(change(pointer.clone(), now(&pointer), after(&pointer)));
                applied.insert(pointer.clone(), after(&pointer));
            }
        }
        for id in &dropped {
            changes.extend(change(is_member(*id), now(&is_member(*id)), Value::Null));
        }
        Self { named, dropped, changes, drift, applied }
    }

    /// Whether something about a member changes.
    pub(super) fn changes_member(&self, id: EntityId) -> bool {
        let pointer = is_member(id);
        self.changes.iter().any(|change| change.pointer.starts_with(&pointer))
    }

    /// The members after it.
    pub(super) fn all(&self, roster: Option<&Roster>) -> BTreeSet<EntityId> {
        let now = roster.into_iter().flat_map(|roster| &roster.members);
        let stay = now.map(|member| member.entity_id).filter(|id| !self.dropped.contains(id));
        stay.chain(self.named.iter().map(|member| member.id)).collect()
    }
}

fn is_member(id: EntityId) -> String {
    format!("/members/{id}")
}

fn role_of(id: EntityId) -> String {
    format!("/members/{id}/role")
}

/// The member that a pointer is about, and whether it is about its role.
fn part(pointer: &str) -> Option<(EntityId, bool)> {
    let rest = pointer.strip_prefix("/members/")?;
    match rest.strip_suffix("/role") {
        Some(id) => Some((id.parse().ok()?, true)),
        None => Some((rest.parse().ok()?, false)),
    }
}

fn change(pointer: String, from: Value, to: Value) -> Option<FieldChange> {
    let shown = |value: Value| (!value.is_null()).then_some(value);
    (from != to).then(|| FieldChange { pointer, from: shown(from), to: shown(to) })
}
