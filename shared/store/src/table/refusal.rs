//! The items that failed conditions found. An item with the caller's own token shows that the first
//! try took effect and its answer was lost.

use serde::de::DeserializeOwned;

use crate::table::{keys::Key, read, write::Item};

/// The failed conditions of a write or a transaction, by the keys of their items. A transaction
/// names each item at most once.
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

    /// The keys of the items whose conditions failed.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.0.iter().map(|(failed, _)| failed)
    }

    /// Whether the item at `key` exists, whose condition failed.
    pub fn finds(&self, key: &Key) -> bool {
        self.0.iter().any(|(failed, item)| failed == key && item.is_some())
    }

    /// The item at `key`, as the failed condition found it. Returns `None` if the condition held,
    /// the item did not exist, or it does not read as a `T`.
    pub fn existing<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let (_, item) = self.0.iter().find(|(failed, _)| failed == key)?;
        read(item.clone()?).ok()
    }
}
