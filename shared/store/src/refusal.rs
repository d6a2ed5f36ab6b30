//! What was there where conditions failed: an item with the caller's own token tells that its first try took effect and the answer was lost.

use serde::de::DeserializeOwned;

use crate::{keys::Key, table::read, write::Item};

/// The conditions of a write, or of a transaction, that failed; found by the keys of the items, of which a transaction names each once.
#[derive(Clone, Debug)]
pub struct Refusal(Vec<(Key, Option<Item>)>);

impl Refusal {
    pub(crate) fn new(failed: Vec<(Key, Option<Item>)>) -> Self {
        Self(failed)
    }

    /// Whether the condition on the item at `key` failed.
    pub fn names(&self, key: &Key) -> bool {
        self.0.iter().any(|(failed, _)| failed == key)
    }

    /// The item at `key` as the failed condition found it. None where its condition held, nothing was there, or it does not read as a `T`.
    pub fn there<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let (_, item) = self.0.iter().find(|(failed, _)| failed == key)?;
        read(item.clone()?).ok()
    }
}
