//! Consistent reads of items by their keys.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::KeysAndAttributes;
use serde::de::DeserializeOwned;

use crate::{
    Error, Result,
    table::{
        Table, key_of,
        keys::Key,
        read,
        write::{Item, key_item},
    },
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
            let get = self
                .client
                .get_item()
                .table_name(&*self.name)
                .set_key(Some(key_item(key)))
                .consistent_read(true);
            match get.send().await {
                Ok(answer) => return answer.item.map(read).transpose(),
                Err(error) => retries.wait_after_read(&error).await?,
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
        let mut wanted: Vec<Item> = keys.iter().map(key_item).collect();
        let mut retries = self.retries();
        while !wanted.is_empty() {
            let request = self.request_for(wanted.clone())?;
            match self.client.batch_get_item().set_request_items(Some(request)).send().await {
                Ok(answer) => {
                    for item in answer.responses.unwrap_or_default().into_values().flatten() {
                        found.push((key_of(&item)?, item));
                    }
                    wanted = answer
                        .unprocessed_keys
                        .unwrap_or_default()
                        .into_values()
                        .flat_map(|rest| rest.keys)
                        .collect();
                    if !wanted.is_empty() {
                        retries.wait(Error::Retry(incomplete())).await?;
                    }
                }
                Err(error) => retries.wait_after_read(&error).await?,
            }
        }
        Ok(found)
    }

    fn request_for(&self, wanted: Vec<Item>) -> Result<HashMap<String, KeysAndAttributes>> {
        let keys = KeysAndAttributes::builder()
            .set_keys(Some(wanted))
            .consistent_read(true)
            .build()
            .map_err(|error| Error::Internal(error.to_string()))?;
        Ok(HashMap::from([(self.name.to_string(), keys)]))
    }
}

fn incomplete() -> String {
    "the table returned only a part of the items; repeat the call".into()
}
