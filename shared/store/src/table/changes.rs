//! Rewriting items without losing attributes that only another version knows.

use serde::Serialize;

use crate::{
    Result,
    table::{
        keys::Key,
        write::{Item, Write, attributes},
    },
};

impl Write {
    /// Changes an item from `before` to `after`: writes the attributes that differ. All others stay
    /// as they are, known to this version or not. `also_removed` names attributes that the change
    /// ends although neither has them.
    ///
    /// Returns `None` if nothing differs.
    pub fn change<T: Serialize>(
        key: Key,
        before: &T,
        after: &T,
        also_removed: &[&str],
    ) -> Result<Option<Self>> {
        let before = attributes(before)?;
        let mut after = attributes(after)?;
        let mut removed: Vec<String> =
            before.keys().filter(|name| !after.contains_key(*name)).cloned().collect();
        removed.extend(also_removed.iter().map(|name| (*name).to_owned()));
        removed.sort();
        after.retain(|name, value| before.get(name) != Some(value));
        if after.is_empty() && removed.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self::of_attributes(key, after, &removed, Self::update)))
    }

    /// Writes all attributes of `value` to an item that may exist, and removes those of
    /// `optional` that `value` does not have. All others stay as they are.
    pub fn fill(key: Key, value: &impl Serialize, optional: &[&str]) -> Result<Self> {
        let attributes = attributes(value)?;
        let absent = optional.iter().filter(|name| !attributes.contains_key(**name));
        let removed: Vec<String> = absent.map(|name| (*name).to_owned()).collect();
        Ok(Self::of_attributes(key, attributes, &removed, Self::upsert))
    }

    fn of_attributes(
        key: Key,
        set: Item,
        removed: &[String],
        update: impl Fn(Key, String) -> Self,
    ) -> Self {
        let mut set: Vec<_> = set.into_iter().collect();
        set.sort_by(|(one, _), (other, _)| one.cmp(other));
        let sets: Vec<_> = set.iter().map(|(name, _)| format!("#{name} = :new_{name}")).collect();
        let removes: Vec<_> = removed.iter().map(|name| format!("#{name}")).collect();
        let clauses: Vec<_> = [("SET", sets), ("REMOVE", removes)]
            .into_iter()
            .filter(|(_, parts)| !parts.is_empty())
            .map(|(clause, parts)| format!("{clause} {}", parts.join(", ")))
            .collect();
        let mut write = update(key, clauses.join(" "));
        for (name, value) in set {
            write.values.insert(format!(":new_{name}"), value);
        }
        write
    }
}
