//! Consistent reads of items by their keys.

use std::collections::HashMap;

use serde::de::DeserializeOwned;

use crate::{
    Error, Result,
    table::{Table, database::Batch, key_of, keys::Key, read, write::Item},
};

/// Items by their keys.
#[derive(Debug, Default)]
pub struct Items(HashMap<Key, Item>);

impl Items {
    /// Indexes `items` by their keys.
    pub fn of(items: Vec<Item>) -> Result<Self> {
        items.into_iter().map(|item| Ok((key_of(&item)?, item))).collect::<Result<_>>().map(Self)
    }

    /// All items, ordered by their keys.
    pub fn into_all<T: DeserializeOwned>(self) -> Result<Vec<T>> {
        let mut items: Vec<_> = self.0.into_iter().collect();
        items.sort_by(|(one, _), (other, _)| one.cmp(other));
        items.into_iter().map(|(_, item)| read(item)).collect()
    }

    /// Adds the items of `other`.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The item at `key`, for one that several may ask for.
    pub fn get<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<T>> {
        self.0.get(key).cloned().map(read).transpose()
    }

    /// Takes out the item at `key`.
    pub fn take<T: DeserializeOwned>(&mut self, key: &Key) -> Result<Option<T>> {
        self.0.remove(key).map(read).transpose()
    }
}

impl Table {
    /// Reads one item.
    pub async fn get<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<T>> {
        let mut retries = self.retries();
        loop {
            match self.database.get(key.clone()).await {
                Ok(item) => return item.map(read).transpose(),
                Err(failure) => retries.wait_after_read(failure).await?,
            }
        }
    }

    /// Reads several items by their keys, and leaves out those that do not exist. No key may occur
    /// twice.
    pub async fn get_all(&self, keys: &[Key]) -> Result<Items> {
        let chunks = keys.chunks(100).map(|chunk| self.get_chunk(chunk));
        let chunks = futures::future::try_join_all(chunks).await?;
        Ok(Items(chunks.into_iter().flatten().collect()))
    }

    async fn get_chunk(&self, keys: &[Key]) -> Result<Vec<(Key, Item)>> {
        let mut found = Vec::with_capacity(keys.len());
        let mut wanted = keys.to_vec();
        let mut retries = self.retries();
        while !wanted.is_empty() {
            match self.database.get_batch(wanted.clone()).await {
                Ok(Batch { items, unread }) => {
                    for item in items {
                        found.push((key_of(&item)?, item));
                    }
                    wanted = unread;
                    if !wanted.is_empty() {
                        retries.wait(Error::Retry(incomplete())).await?;
                    }
                }
                Err(failure) => retries.wait_after_read(failure).await?,
            }
        }
        Ok(found)
    }
}

fn incomplete() -> String {
    "the table returned only a part of the items; repeat the call".into()
}
