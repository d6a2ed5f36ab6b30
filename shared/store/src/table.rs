//! The thin layer over the SDK: consistent reads that are whole, and writes whose outcome is known or said to be unknown.

use std::{collections::HashMap, sync::Arc, time::Duration};

use aws_sdk_dynamodb::{
    Client,
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
    operation::transact_write_items::TransactWriteItemsError,
    types::{AttributeValue, CancellationReason, KeysAndAttributes, ReturnValue, ReturnValuesOnConditionCheckFailure::AllOld},
};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::{
    Error, Random, Result,
    keys::Key,
    refusal::Refusal,
    write::{Action, Item, Parts, Write, key_item},
};

/// Why a transaction was canceled: a condition, or what passes.
const REFUSED: &str = "ConditionalCheckFailed";
const PASSING: [&str; 3] = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];

/// How long a call is repeated while its outcome is not known.
const REPEATED_FOR: Duration = Duration::from_secs(5);

/// The table, and how long to wait between two tries.
#[derive(Clone)]
pub struct Table {
    client: Client,
    name: Arc<str>,
    random: Random,
}

/// Why a write did not happen.
#[derive(Debug)]
pub enum WriteError {
    /// Conditions did not hold.
    Refused(Refusal),
    /// Everything else. [`Error::Retry`] where it is not known whether it happened.
    Other(Error),
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// One page of a query.
#[derive(Debug)]
pub struct Page {
    /// The items, in order.
    pub items: Vec<Item>,
    /// Where the next page begins.
    pub next: Option<Item>,
}

/// What to query.
#[derive(Debug, Clone)]
pub struct Query {
    index: Option<&'static str>,
    names: (&'static str, &'static str),
    partition: String,
    range: Option<(String, String)>,
    newest_first: bool,
    limit: Option<usize>,
    after: Option<Item>,
}

impl Query {
    /// A partition of the table.
    pub fn of(partition: String) -> Self {
        let names = ("PK", "SK");
        Self { index: None, names, partition, range: None, newest_first: false, limit: None, after: None }
    }

    /// A partition of an index. Indexes project keys only, and may lag behind.
    pub fn of_index(index: &'static str, names: (&'static str, &'static str), partition: String) -> Self {
        Self { index: Some(index), names, ..Self::of(partition) }
    }

    /// Only what begins with `prefix`.
    #[must_use]
    pub fn begins_with(self, prefix: &str) -> Self {
        // '~' sorts behind everything that our keys are made of.
        self.between(prefix, &format!("{prefix}~"))
    }

    /// Only from `first` to `last`, both included.
    #[must_use]
    pub fn between(mut self, first: &str, last: &str) -> Self {
        self.range = Some((first.to_owned(), last.to_owned()));
        self
    }

    /// From the end.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.newest_first = true;
        self
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Behind this key.
    #[must_use]
    pub fn after(mut self, key: Option<Item>) -> Self {
        self.after = key;
        self
    }
}

impl Table {
    /// The table `name` behind `client`.
    pub fn new(client: Client, name: Arc<str>, random: Random) -> Self {
        Self { client, name, random }
    }

    /// One item, consistently.
    pub async fn get<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<T>> {
        let mut patience = self.patience();
        loop {
            let get = self.client.get_item().table_name(&*self.name).set_key(Some(key_item(key))).consistent_read(true);
            match get.send().await {
                Ok(answer) => return answer.item.map(read).transpose(),
                Err(error) => patience.wait(unknown(error)).await?,
            }
        }
    }

    /// Several items, consistently, by their keys. Those that are not there are left out.
    pub async fn get_all(&self, keys: &[Key]) -> Result<Items> {
        let chunks = keys.chunks(100).map(|chunk| self.get_chunk(chunk));
        let chunks = futures::future::try_join_all(chunks).await?;
        Ok(Items(chunks.into_iter().flatten().collect()))
    }

    async fn get_chunk(&self, keys: &[Key]) -> Result<Vec<(Key, Item)>> {
        let mut found = Vec::with_capacity(keys.len());
        let mut wanted: Vec<Item> = keys.iter().map(key_item).collect();
        let mut patience = self.patience();
        while !wanted.is_empty() {
            let ask = KeysAndAttributes::builder().set_keys(Some(wanted.clone())).consistent_read(true).build();
            let ask = HashMap::from([(self.name.to_string(), ask.map_err(|error| Error::Internal(error.to_string()))?)]);
            match self.client.batch_get_item().set_request_items(Some(ask)).send().await {
                Ok(answer) => {
                    for item in answer.responses.unwrap_or_default().into_values().flatten() {
                        found.push((key_of(&item)?, item));
                    }
                    wanted = answer.unprocessed_keys.unwrap_or_default().into_values().flat_map(|rest| rest.keys).collect();
                    if !wanted.is_empty() {
                        patience.wait(Error::Retry("the table did not answer in full; repeat the call".into())).await?;
                    }
                }
                Err(error) => patience.wait(unknown(error)).await?,
            }
        }
        Ok(found)
    }

    /// One page of a query: consistent on the table, as far as the index is on an index.
    pub async fn page(&self, query: Query) -> Result<Page> {
        let (pk, sk) = query.names;
        let mut values = Item::from([(":pk".to_owned(), AttributeValue::S(query.partition.clone()))]);
        let mut condition = format!("{pk} = :pk");
        if let Some((first, last)) = &query.range {
            values.insert(":first".into(), AttributeValue::S(first.clone()));
            values.insert(":last".into(), AttributeValue::S(last.clone()));
            condition = format!("{condition} AND {sk} BETWEEN :first AND :last");
        }
        let mut patience = self.patience();
        let answer = loop {
            let call = self.client.query().table_name(&*self.name).set_index_name(query.index.map(str::to_owned));
            let call = call.key_condition_expression(&condition).set_expression_attribute_values(Some(values.clone()));
            let call = call.consistent_read(query.index.is_none()).scan_index_forward(!query.newest_first);
            let call = call.set_limit(query.limit.map(|limit| limit as i32)).set_exclusive_start_key(query.after.clone());
            match call.send().await {
                Ok(answer) => break answer,
                Err(error) => patience.wait(unknown(error)).await?,
            }
        };
        Ok(Page { items: answer.items.unwrap_or_default(), next: answer.last_evaluated_key })
    }

    /// All that a query finds, up to its limit.
    pub async fn all(&self, query: Query) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let mut after = query.after.clone();
        loop {
            let rest = query.limit.map(|limit| limit - items.len());
            let page = self.page(Query { after, limit: rest, ..query.clone() }).await?;
            items.extend(page.items);
            after = page.next;
            if after.is_none() || query.limit.is_some_and(|limit| items.len() >= limit) {
                return Ok(items);
            }
        }
    }

    /// One write. The item as it is afterwards, where it was an update.
    pub async fn write(&self, write: Write) -> Result<Option<Item>, WriteError> {
        let mut patience = self.patience();
        loop {
            let (error, old) = match self.write_once(write.clone()).await {
                Ok(item) => return Ok(item),
                Err(parts) => parts,
            };
            match error {
                Failure::Condition => return Err(WriteError::Refused(Refusal::new(vec![(write.key, old)]))),
                Failure::Passing(text) => patience.wait(Error::Retry(text)).await?,
                Failure::Final(text) => return Err(Error::Internal(text).into()),
            }
        }
    }

    /// One write without a condition.
    pub async fn write_always(&self, write: Write) -> Result<()> {
        match self.write(write).await {
            Ok(_) => Ok(()),
            Err(WriteError::Refused(_)) => Err(Error::Internal("a write without a condition was refused".into())),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// One write that is done, or whose condition does not hold: then there was nothing to do, or it was done before.
    pub async fn write_where_it_holds(&self, write: Write) -> Result<()> {
        match self.write(write).await {
            Ok(_) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    async fn write_once(&self, write: Write) -> Result<Option<Item>, (Failure, Option<Item>)> {
        let Parts { action, key, condition, names, values } = write.into_parts();
        let table = &*self.name;
        match action {
            Action::Put(item) => {
                let call = self.client.put_item().table_name(table).set_item(Some(item)).set_condition_expression(condition);
                let call = call.set_expression_attribute_names(names).set_expression_attribute_values(values);
                let sent = call.return_values_on_condition_check_failure(AllOld).send().await;
                sent.map(|_| None).map_err(|error| {
                    let old = error.as_service_error().and_then(old_of_put);
                    (Failure::of(&error), old)
                })
            }
            Action::Update(expression) => {
                let call = self.client.update_item().table_name(table).set_key(Some(key)).update_expression(expression);
                let call = call.set_condition_expression(condition).set_expression_attribute_names(names);
                let call = call.set_expression_attribute_values(values).return_values(ReturnValue::AllNew);
                let sent = call.return_values_on_condition_check_failure(AllOld).send().await;
                sent.map(|answer| answer.attributes).map_err(|error| {
                    let old = error.as_service_error().and_then(old_of_update);
                    (Failure::of(&error), old)
                })
            }
            Action::Delete => {
                let call = self.client.delete_item().table_name(table).set_key(Some(key)).set_condition_expression(condition);
                let call = call.set_expression_attribute_names(names).set_expression_attribute_values(values);
                let sent = call.return_values_on_condition_check_failure(AllOld).return_values(ReturnValue::AllOld).send().await;
                sent.map(|answer| answer.attributes).map_err(|error| {
                    let old = error.as_service_error().and_then(old_of_delete);
                    (Failure::of(&error), old)
                })
            }
            Action::Check => Err((Failure::Final("a check stands in transactions only".into()), None)),
        }
    }

    /// All of `writes`, or none. What is not known to have failed is repeated as it is: a condition that then fails on the caller's own
    /// token is a success, which only the caller can tell. A conflict with another transaction is a lost race, and tried again too.
    pub async fn transact(&self, writes: &[Write]) -> Result<(), WriteError> {
        let mut patience = self.patience();
        let parts = writes.iter().cloned().map(|write| write.into_transact(&self.name)).collect::<Result<Vec<_>>>()?;
        loop {
            let Err(error) = self.client.transact_write_items().set_transact_items(Some(parts.clone())).send().await else { return Ok(()) };
            if let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = error.as_service_error() {
                let reasons = canceled.cancellation_reasons();
                let codes = || reasons.iter().filter_map(CancellationReason::code).filter(|code| *code != "None");
                if !codes().all(|code| code == REFUSED || PASSING.contains(&code)) {
                    return Err(Error::Internal(format!("a transaction was refused: {canceled:?}")).into());
                }
                // Where somebody else is at work on one of the items, its condition is not known to hold: it may be the one that has our token.
                if codes().next().is_some() && codes().all(|code| code == REFUSED) {
                    let failed = writes.iter().zip(reasons).filter(|(_, reason)| reason.code() == Some(REFUSED));
                    let failed = failed.map(|(write, reason)| (write.key.clone(), reason.item().cloned()));
                    return Err(WriteError::Refused(Refusal::new(failed.collect())));
                }
            } else if let Failure::Final(text) = Failure::of(&error) {
                return Err(Error::Internal(text).into());
            }
            patience.wait(Error::Retry("it is not known whether this was kept; repeat it with the same key".into())).await?;
        }
    }

    /// Waits a random 0 … min(100, 5·2ᵏ) ms after the k-th try.
    pub async fn pause(&self, tries: u32) {
        let most = (5_u64 << tries.min(5)).min(100) * 1_000;
        let micros = (self.random)() % u128::from(most);
        tokio::time::sleep(Duration::from_micros(micros as u64)).await;
    }

    fn patience(&self) -> Patience<'_> {
        Patience { table: self, until: Instant::now() + REPEATED_FOR, tries: 0 }
    }
}

/// How often one call is tried again.
struct Patience<'a> {
    table: &'a Table,
    until: Instant,
    tries: u32,
}

impl Patience<'_> {
    /// Waits before the next try. The error itself where another try can't help, or there is no time for one.
    async fn wait(&mut self, error: Error) -> Result<()> {
        if !matches!(error, Error::Retry(_)) || Instant::now() >= self.until {
            return Err(error);
        }
        self.table.pause(self.tries).await;
        self.tries += 1;
        Ok(())
    }
}

/// Items by their keys.
#[derive(Debug, Default)]
pub struct Items(HashMap<Key, Item>);

impl Items {
    /// These items.
    pub fn of(items: Vec<Item>) -> Result<Self> {
        items.into_iter().map(|item| Ok((key_of(&item)?, item))).collect::<Result<_>>().map(Self)
    }

    /// All of them, by their keys.
    pub fn into_all<T: DeserializeOwned>(self) -> Result<Vec<T>> {
        let mut items: Vec<_> = self.0.into_iter().collect();
        items.sort_by(|(one, _), (other, _)| one.cmp(other));
        items.into_iter().map(|(_, item)| read(item)).collect()
    }

    /// Adds those of `other`.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The item at `key`, taken out.
    pub fn take<T: DeserializeOwned>(&mut self, key: &Key) -> Result<Option<T>> {
        self.0.remove(key).map(read).transpose()
    }
}

/// Reads an item as a `T`; attributes that `T` does not know are passed over.
pub fn read<T: DeserializeOwned>(item: Item) -> Result<T> {
    let text = |error| Error::Internal(format!("an item could not be read: {error}"));
    serde_dynamo::from_item(item).map_err(text)
}

/// The key of an item.
pub fn key_of(item: &Item) -> Result<Key> {
    let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
    match (text("PK"), text("SK")) {
        (Some(pk), Some(sk)) => Ok(Key { pk, sk }),
        _ => Err(Error::Internal("an item has no key".into())),
    }
}

enum Failure {
    Condition,
    Passing(String),
    Final(String),
}

impl Failure {
    fn of<E: ProvideErrorMetadata + std::error::Error + 'static, R: std::fmt::Debug + 'static>(error: &SdkError<E, R>) -> Self {
        let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
        let text = || format!("the table did not answer as it should: {}", DisplayErrorContext(error));
        match code {
            Some("ConditionalCheckFailedException") => Self::Condition,
            Some("ValidationException" | "ResourceNotFoundException" | "AccessDeniedException" | "SerializationException") => {
                Self::Final(text())
            }
            Some("IdempotentParameterMismatchException" | "ItemCollectionSizeLimitExceededException") => Self::Final(text()),
            // Throttling, faults of the service, time-outs, broken connections: it may or may not have happened.
            _ => Self::Passing(text()),
        }
    }
}

fn unknown<E: ProvideErrorMetadata + std::error::Error + 'static, R: std::fmt::Debug + 'static>(error: SdkError<E, R>) -> Error {
    match Failure::of(&error) {
        Failure::Passing(text) => Error::Retry(text),
        Failure::Condition => Error::Internal("a read has no condition".into()),
        Failure::Final(text) => Error::Internal(text),
    }
}

fn old_of_put(error: &aws_sdk_dynamodb::operation::put_item::PutItemError) -> Option<Item> {
    use aws_sdk_dynamodb::operation::put_item::PutItemError::ConditionalCheckFailedException as Failed;
    if let Failed(failed) = error { failed.item().cloned() } else { None }
}

fn old_of_update(error: &aws_sdk_dynamodb::operation::update_item::UpdateItemError) -> Option<Item> {
    use aws_sdk_dynamodb::operation::update_item::UpdateItemError::ConditionalCheckFailedException as Failed;
    if let Failed(failed) = error { failed.item().cloned() } else { None }
}

fn old_of_delete(error: &aws_sdk_dynamodb::operation::delete_item::DeleteItemError) -> Option<Item> {
    use aws_sdk_dynamodb::operation::delete_item::DeleteItemError::ConditionalCheckFailedException as Failed;
    if let Failed(failed) = error { failed.item().cloned() } else { None }
}
