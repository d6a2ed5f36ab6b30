//! A map with a limited number of values.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

#[derive(Debug)]
pub(super) struct BoundedCache<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for BoundedCache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> BoundedCache<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Stores a value. A new key first clears the cache if it holds `max` values.
    pub(super) fn insert(&self, key: K, value: V, max: usize) {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= max && !values.contains_key(&key) {
            values.clear();
        }
        values.insert(key, value);
    }
}
