//! The store's calls.

use std::collections::HashSet;

use async_trait::async_trait;
use rusqlite::ErrorCode;
use smartspace_store::table::{
    database::{Batch, CONDITION_FAILED, Database, Failure, Reason, TransactFailure},
    keys::Key,
    query::{Page, Query},
    write::{Action, Item, WriteCall, key_item},
};
use tokio::sync::MutexGuard;

use crate::sqlite_table::{
    SqliteTable, conditions,
    expressions::Scope,
    rows::{Change, Rows},
    updates,
    values::bytes_of,
};

/// An item has at most this many bytes.
const ITEM_BYTES: usize = 400 << 10;
/// A batch reads at most this many items, and a transaction has at most this many writes.
const BATCH: usize = 100;
/// How a transaction's cancellation says in words that a condition failed.
const REFUSED: &str = "The conditional request failed";
/// DynamoDB's code for a write of a transaction whose update does not fit its item.
const INVALID: &str = "ValidationError";

#[async_trait]
impl Database for SqliteTable {
    async fn get(&self, key: Key) -> Result<Option<Item>, Failure> {
        let found = self.with_turn("GetItem", move |rows| rows.find(&key)).await?;
        Ok(found.map_err(broken)?.map(|row| row.item))
    }

    async fn get_batch(&self, keys: Vec<Key>) -> Result<Batch, Failure> {
        at_most(BATCH, keys.len())?;
        let find = move |rows: MutexGuard<'_, Rows>| {
            let found = keys.iter().filter_map(|key| rows.find(key).transpose());
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        let found = self.with_turn("BatchGetItem", find).await?.map_err(broken)?;
        Ok(Batch { items: found.into_iter().map(|row| row.item).collect(), unread: Vec::new() })
    }

    async fn query(&self, query: Query) -> Result<Page, Failure> {
        let index = query.index;
        let find = move |rows: MutexGuard<'_, Rows>| rows.page(&query);
        let stored = self.with_turn("Query", find).await?.map_err(broken)?;
        // Up to 1 MiB of JSON: to read it takes longer than to find it, so the others go on.
        stored.read(index).await.map_err(broken)
    }

    async fn write(&self, call: WriteCall) -> Result<Option<Item>, Failure> {
        let operation = match &call.action {
            Action::Put(_) => "PutItem",
            Action::Update(_) => "UpdateItem",
            Action::Delete => "DeleteItem",
            Action::Check => {
                return Err(Failure::Final("a check is only possible in a transaction".into()));
            }
        };
        self.with_turn(operation, move |mut rows| write(&mut rows, call)).await?
    }

    async fn transact(&self, calls: Vec<WriteCall>) -> Result<(), TransactFailure> {
        at_most(BATCH, calls.len()).map_err(TransactFailure::Failed)?;
        let write = move |mut rows: MutexGuard<'_, Rows>| transact(&mut rows, calls);
        let made = self.with_turn("TransactWriteItems", write).await;
        made.unwrap_or_else(|failure| Err(TransactFailure::Failed(failure)))
    }
}

fn write(rows: &mut Rows, call: WriteCall) -> Result<Option<Item>, Failure> {
    let is_deletion = matches!(call.action, Action::Delete);
    let is_update = matches!(call.action, Action::Update(_));
    let change = match outcome(rows, call)? {
        Outcome::Changes(change) => change,
        Outcome::Refused(found) => return Err(Failure::Condition(found)),
        Outcome::Invalid(text) => return Err(Failure::Final(text)),
    };
    rows.make(std::slice::from_ref(&change)).map_err(broken)?;
    if is_deletion {
        return Ok(change.before.map(|row| row.item));
    }
    Ok(change.after.filter(|_| is_update))
}

fn transact(rows: &mut Rows, calls: Vec<WriteCall>) -> Result<(), TransactFailure> {
    let mut keys = HashSet::new();
    let mut outcomes = Vec::with_capacity(calls.len());
    for call in calls {
        if !keys.insert(call.key.clone()) {
            let text = "a transaction has two writes of one item";
            return Err(TransactFailure::Failed(Failure::Final(text.into())));
        }
        outcomes.push(outcome(rows, call).map_err(TransactFailure::Failed)?);
    }
    if outcomes.iter().any(|outcome| !matches!(outcome, Outcome::Changes(_))) {
        return Err(TransactFailure::Canceled(outcomes.into_iter().map(reason).collect()));
    }
    let changes = outcomes.into_iter().filter_map(|outcome| match outcome {
        Outcome::Changes(change) => Some(change),
        Outcome::Refused(_) | Outcome::Invalid(_) => None,
    });
    let changes: Vec<_> = changes.collect();
    rows.make(&changes).map_err(|error| TransactFailure::Failed(broken(error)))
}

fn reason(outcome: Outcome) -> Reason {
    match outcome {
        Outcome::Changes(_) => Reason { code: None, message: None, item: None },
        Outcome::Refused(item) => {
            let [code, message] = [CONDITION_FAILED, REFUSED].map(|text| Some(text.to_owned()));
            Reason { code, message, item }
        }
        Outcome::Invalid(text) => {
            Reason { code: Some(INVALID.to_owned()), message: Some(text), item: None }
        }
    }
}

/// What a write would do now.
enum Outcome {
    Changes(Change),
    /// Its condition does not hold for this item.
    Refused(Option<Item>),
    /// Its update does not fit the item, such as a sum with an attribute that the item lacks.
    Invalid(String),
}

fn outcome(rows: &Rows, call: WriteCall) -> Result<Outcome, Failure> {
    let WriteCall { key, action, condition, names, values } = call;
    let before = rows.find(&key).map_err(broken)?;
    let scope = Scope {
        names: names.as_ref(),
        values: values.as_ref(),
        item: before.as_ref().map(|row| &row.item),
    };
    if let Some(condition) = &condition
        && !conditions::holds(condition, scope).map_err(Failure::Final)?
    {
        return Ok(Outcome::Refused(before.map(|row| row.item)));
    }
    let after = match action {
        Action::Put(item) => Some(item),
        Action::Update(expression) => {
            let item = scope.item.cloned().unwrap_or_else(|| key_item(&key));
            match updates::update(item, &expression, scope) {
                Ok(item) => Some(item),
                Err(text) => return Ok(Outcome::Invalid(text)),
            }
        }
        Action::Delete => None,
        // Nothing changes.
        Action::Check => {
            return Ok(Outcome::Changes(Change { key, before: None, after: None }));
        }
    };
    if after.as_ref().is_some_and(|item| bytes_of(item) > ITEM_BYTES) {
        return Err(Failure::Final("an item is larger than 400 KB".into()));
    }
    Ok(Outcome::Changes(Change { key, before, after }))
}

fn at_most(most: usize, count: usize) -> Result<(), Failure> {
    if count > most {
        return Err(Failure::Final(format!("a call has {count} items; expected at most {most}")));
    }
    Ok(())
}

/// The failure of a call that SQLite could not make. A full disk and a broken file are not better
/// at the next try, and nobody should wait for that.
fn broken(error: rusqlite::Error) -> Failure {
    let text = format!("a call to the table failed: {error}");
    let may_pass = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::SystemIoFailure)
    );
    if may_pass { Failure::Transient(text) } else { Failure::Final(text) }
}
