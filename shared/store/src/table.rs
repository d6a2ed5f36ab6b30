//! The thin layer over the database. Reads are consistent and complete. The outcome of a write is
//! known, or the error says that it is unknown.
//!
//! `items` and `query` read, `single_write` and `transact` write, and `retries` decides which
//! failed calls are sent again. They make the calls of [`database::Database`], which
//! [`dynamodb`] sends with the SDK.

mod changes;
pub mod database;
#[cfg(feature = "aws")]
pub mod dynamodb;
pub mod indexes;
mod items;
pub(crate) mod json_text;
pub mod keys;
pub mod pages;
pub mod query;
pub mod refusal;
mod retries;
#[cfg(feature = "aws")]
pub mod schema;
mod single_write;
mod transact;
pub mod write;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use smartspace_domain::stored::Stored;

pub use self::{
    items::Items,
    query::{Page, Query},
};
use crate::{
    Error, Random, Result,
    table::{
        database::Database,
        keys::Key,
        refusal::Refusal,
        write::{Item, text},
    },
};

/// The table, with the source of jitter for its retries.
#[derive(Clone)]
pub struct Table {
    database: Arc<dyn Database>,
    random: Random,
}

impl Table {
    pub fn new(database: Arc<dyn Database>, random: Random) -> Self {
        Self { database, random }
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
    let mut attributes = serde_dynamo::Item::default();
    *attributes.inner_mut() = item;
    serde_dynamo::from_item(attributes)
        .map(|Stored(value)| value)
        .map_err(|error| Error::Internal(format!("an item could not be read: {error}")))
}

/// The key of an item.
pub fn key_of(item: &Item) -> Result<Key> {
    match (text(item, "PK"), text(item, "SK")) {
        (Some(pk), Some(sk)) => Ok(Key { pk: pk.to_owned(), sk: sk.to_owned() }),
        _ => Err(Error::Internal("an item has no key".into())),
    }
}
