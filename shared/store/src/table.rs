//! The thin layer over the SDK. Reads are consistent and complete. The outcome of a write is known,
//! or the error says that it is unknown.
//!
//! `items` and `query` read, `single_write` and `transact` write, and `retries` decides which
//! failed calls are sent again.

mod changes;
pub mod indexes;
mod items;
pub(crate) mod json_text;
pub mod keys;
pub mod pages;
mod query;
pub mod refusal;
mod retries;
pub mod schema;
mod single_write;
mod transact;
pub mod write;

use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use serde::de::DeserializeOwned;
use smartspace_domain::stored::Stored;

pub use self::{
    items::Items,
    query::{Page, Query},
};
use crate::{
    Error, Random, Result,
    table::{keys::Key, refusal::Refusal, write::Item},
};

/// The table, with the source of jitter for its retries.
#[derive(Clone)]
pub struct Table {
    client: Client,
    name: Arc<str>,
    random: Random,
}

impl Table {
    /// The table `name`, reached through `client`.
    pub fn new(client: Client, name: Arc<str>, random: Random) -> Self {
        Self { client, name, random }
    }
}

/// Why a write did not happen.
#[derive(Debug)]
pub enum WriteError {
    /// Conditions did not hold.
    Refused(Refusal),
    /// Any other error. [`Error::Retry`] means that the outcome is unknown.
    Other(Error),
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Reads an item as a `T`, tolerantly: see [`smartspace_domain::stored`].
pub fn read<T: DeserializeOwned>(item: Item) -> Result<T> {
    let text = |error| Error::Internal(format!("an item could not be read: {error}"));
    serde_dynamo::from_item(item).map(|Stored(value)| value).map_err(text)
}

/// The key of an item.
pub fn key_of(item: &Item) -> Result<Key> {
    let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
    match (text("PK"), text("SK")) {
        (Some(pk), Some(sk)) => Ok(Key { pk, sk }),
        _ => Err(Error::Internal("an item has no key".into())),
    }
}
