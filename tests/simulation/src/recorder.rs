//! Records the calls of the store, so that a test can make them again on other databases.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use smartspace_store::table::{
    database::{Batch, Database, Failure, TransactFailure},
    dynamodb::DynamoDb,
    keys::Key,
    query::{Page, Query},
    write::{Item, WriteCall},
};

use crate::locked;

/// A call of the store.
#[derive(Clone, Debug)]
pub enum StoreCall {
    /// [`Database::get`].
    Get(Key),
    /// [`Database::get_batch`].
    GetBatch(Vec<Key>),
    /// [`Database::query`].
    Query(Query),
    /// [`Database::write`].
    Write(WriteCall),
    /// [`Database::transact`].
    Transact(Vec<WriteCall>),
}

/// The calls that were made, in order.
pub type Recording = Arc<Mutex<Vec<StoreCall>>>;

/// A database that records its calls.
#[derive(Debug)]
pub struct Recorder {
    inner: DynamoDb,
    recording: Recording,
}

impl Recorder {
    /// Passes all calls on to `inner`.
    pub fn new(inner: DynamoDb, recording: Recording) -> Self {
        Self { inner, recording }
    }

    fn record(&self, call: StoreCall) {
        locked(&self.recording).push(call);
    }
}

#[async_trait]
impl Database for Recorder {
    async fn get(&self, key: Key) -> Result<Option<Item>, Failure> {
        self.record(StoreCall::Get(key.clone()));
        self.inner.get(key).await
    }

    async fn get_batch(&self, keys: Vec<Key>) -> Result<Batch, Failure> {
        self.record(StoreCall::GetBatch(keys.clone()));
        self.inner.get_batch(keys).await
    }

    async fn query(&self, query: Query) -> Result<Page, Failure> {
        self.record(StoreCall::Query(query.clone()));
        self.inner.query(query).await
    }

    async fn write(&self, call: WriteCall) -> Result<Option<Item>, Failure> {
        self.record(StoreCall::Write(call.clone()));
        self.inner.write(call).await
    }

    async fn transact(&self, calls: Vec<WriteCall>) -> Result<(), TransactFailure> {
        self.record(StoreCall::Transact(calls.clone()));
        self.inner.transact(calls).await
    }
}
