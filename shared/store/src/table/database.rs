//! The calls of a database. [`DynamoDb`](super::dynamodb::DynamoDb) sends them with the SDK. The
//! local host answers them in its own process.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::table::{
    keys::Key,
    query::{Page, Query},
    write::{Item, WriteCall},
};

/// A table of DynamoDB, or of a database that behaves the same. A call is tried once.
#[async_trait]
pub trait Database: Debug + Send + Sync {
    /// Reads one item, consistently.
    async fn get(&self, key: Key) -> Result<Option<Item>, Failure>;

    /// Reads at most 100 items, consistently. No key may occur twice.
    async fn get_batch(&self, keys: Vec<Key>) -> Result<Batch, Failure>;

    /// Reads a page of a partition: at most 1 MiB.
    async fn query(&self, query: Query) -> Result<Page, Failure>;

    /// Does one write. Returns the item as it is after an update, or as it was before a deletion.
    async fn write(&self, call: WriteCall) -> Result<Option<Item>, Failure>;

    /// Makes all of `calls`, or none.
    async fn transact(&self, calls: Vec<WriteCall>) -> Result<(), TransactFailure>;
}

#[derive(Debug, Default, PartialEq)]
pub struct Batch {
    /// The items that exist, in any order.
    pub items: Vec<Item>,
    /// The keys that were not read and have to be asked for again.
    pub unread: Vec<Key>,
}

/// Why a call failed.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// The condition of a write did not hold. Has the item as the condition found it, if it exists.
    Condition(Option<Item>),
    /// Throttling, a fault of the service, a timeout or a broken connection. The call may have
    /// taken effect.
    Transient(String),
    /// Another try would fail too.
    Final(String),
}

impl Failure {
    /// The failure of a call that DynamoDB answered with the error `code`, or did not answer.
    pub fn of_code(code: Option<&str>, text: String) -> Self {
        match code {
            Some(
                "ValidationException"
                | "ResourceNotFoundException"
                | "AccessDeniedException"
                | "SerializationException"
                | "IdempotentParameterMismatchException"
                | "ItemCollectionSizeLimitExceededException",
            ) => Self::Final(text),
            _ => Self::Transient(text),
        }
    }
}

/// Why a transaction was not made.
#[derive(Debug, PartialEq)]
pub enum TransactFailure {
    /// One reason for each write, in order.
    Canceled(Vec<Reason>),
    /// Any other failure.
    Failed(Failure),
}

/// The code of a write whose condition failed.
pub const CONDITION_FAILED: &str = "ConditionalCheckFailed";

/// The part of a write in the cancellation of its transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// DynamoDB's code, such as [`CONDITION_FAILED`]. `None` if this write could be made.
    pub code: Option<String>,
    /// The same in words, for people who look for a mistake.
    pub message: Option<String>,
    /// The item as a failed condition found it.
    pub item: Option<Item>,
}
