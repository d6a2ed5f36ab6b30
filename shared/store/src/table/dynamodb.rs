//! DynamoDB, reached with the SDK.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use aws_sdk_dynamodb::{
    Client,
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
    operation::{
        delete_item::DeleteItemError, put_item::PutItemError,
        transact_write_items::TransactWriteItemsError, update_item::UpdateItemError,
    },
    types::{
        AttributeValue, CancellationReason, ConditionCheck, Delete, KeysAndAttributes, Put,
        ReturnValue, ReturnValuesOnConditionCheckFailure::AllOld, TransactWriteItem, Update,
    },
};

use crate::table::{
    database::{Batch, Database, Failure, Reason, TransactFailure},
    indexes::KeyNames,
    key_of,
    keys::Key,
    query::{Page, Query, Range},
    write::{Action, Item, WriteCall, key_item},
};

/// An item, as the SDK represents it.
type SdkItem = HashMap<String, AttributeValue>;

#[derive(Clone, Debug)]
pub struct DynamoDb {
    client: Client,
    table: Arc<str>,
}

impl DynamoDb {
    /// The table `name`, reached through `client`.
    pub fn new(client: Client, name: impl Into<Arc<str>>) -> Self {
        Self { client, table: name.into() }
    }
}

#[async_trait]
impl Database for DynamoDb {
    async fn get(&self, key: Key) -> Result<Option<Item>, Failure> {
        let get = self
            .client
            .get_item()
            .table_name(&*self.table)
            .set_key(Some(key_to_sdk(&key)))
            .consistent_read(true);
        let answer = get.send().await.map_err(|error| failure(&error))?;
        Ok(answer.item.map(from_sdk))
    }

    async fn get_batch(&self, keys: Vec<Key>) -> Result<Batch, Failure> {
        let keys = KeysAndAttributes::builder()
            .set_keys(Some(keys.iter().map(key_to_sdk).collect()))
            .consistent_read(true)
            .build()
            .map_err(|error| Failure::Final(error.to_string()))?;
        let get = self.client.batch_get_item().request_items(&*self.table, keys);
        let answer = get.send().await.map_err(|error| failure(&error))?;
        let items = answer.responses.unwrap_or_default().into_values().flatten();
        let unread = answer.unprocessed_keys.unwrap_or_default().into_values();
        let unread = unread.flat_map(|rest| rest.keys).map(|key| key_of(&from_sdk(key)));
        Ok(Batch {
            items: items.map(from_sdk).collect(),
            unread: unread
                .collect::<Result<_, _>>()
                .map_err(|error| Failure::Final(error.to_string()))?,
        })
    }

    async fn query(&self, query: Query) -> Result<Page, Failure> {
        let page = self
            .client
            .query()
            .table_name(&*self.table)
            .set_index_name(query.index.map(|index| index.name.to_owned()))
            .key_condition_expression(condition(&query))
            .set_expression_attribute_values(Some(to_sdk(values(&query))))
            .consistent_read(query.index.is_none())
            .scan_index_forward(!query.newest_first)
            .set_limit(query.limit.map(|limit| limit as i32))
            .set_exclusive_start_key(query.after.map(to_sdk));
        let answer = page.send().await.map_err(|error| failure(&error))?;
        Ok(Page {
            items: answer.items.unwrap_or_default().into_iter().map(from_sdk).collect(),
            next: answer.last_evaluated_key.map(from_sdk),
        })
    }

    async fn write(&self, call: WriteCall) -> Result<Option<Item>, Failure> {
        let WriteCall { key, action, condition, names, values } = call;
        // Three builders of the SDK that differ only in their types.
        macro_rules! send {
            ($builder:expr, $error:ident) => {
                $builder
                    .table_name(&*self.table)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values.map(to_sdk))
                    .return_values_on_condition_check_failure(AllOld)
                    .send()
                    .await
                    .map_err(|error| match error.as_service_error() {
                        Some($error::ConditionalCheckFailedException(failed)) => {
                            Failure::Condition(failed.item().cloned().map(from_sdk))
                        }
                        _ => failure(&error),
                    })?
            };
        }
        let item = match action {
            Action::Put(item) => {
                send!(self.client.put_item().set_item(Some(to_sdk(item))), PutItemError);
                None
            }
            Action::Update(expression) => {
                let update = self
                    .client
                    .update_item()
                    .set_key(Some(key_to_sdk(&key)))
                    .update_expression(expression)
                    .return_values(ReturnValue::AllNew);
                send!(update, UpdateItemError).attributes
            }
            Action::Delete => {
                let delete = self
                    .client
                    .delete_item()
                    .set_key(Some(key_to_sdk(&key)))
                    .return_values(ReturnValue::AllOld);
                send!(delete, DeleteItemError).attributes
            }
            Action::Check => {
                return Err(Failure::Final("a check is only possible in a transaction".into()));
            }
        };
        Ok(item.map(from_sdk))
    }

    async fn transact(&self, calls: Vec<WriteCall>) -> Result<(), TransactFailure> {
        let parts = calls.into_iter().map(|call| part(call, &self.table));
        let parts = parts.collect::<Result<_, _>>().map_err(TransactFailure::Failed)?;
        let write = self.client.transact_write_items().set_transact_items(Some(parts));
        let Err(error) = write.send().await else { return Ok(()) };
        Err(match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
                TransactFailure::Canceled(
                    canceled.cancellation_reasons().iter().map(reason).collect(),
                )
            }
            _ => TransactFailure::Failed(failure(&error)),
        })
    }
}

/// The key condition of a query.
fn condition(query: &Query) -> String {
    let KeyNames { pk, sk } = query.index.map_or(KeyNames::TABLE, |index| index.keys);
    match query.range {
        Some(_) => format!("{pk} = :pk AND {sk} BETWEEN :first AND :last"),
        None => format!("{pk} = :pk"),
    }
}

/// The values that the condition names.
fn values(query: &Query) -> Item {
    let text = |text: &String| serde_dynamo::AttributeValue::S(text.clone());
    let mut values = Item::from([(":pk".to_owned(), text(&query.partition))]);
    if let Some(Range { first, last }) = &query.range {
        values.insert(":first".into(), text(first));
        values.insert(":last".into(), text(last));
    }
    values
}

/// A write as a part of a transaction. If its condition fails, DynamoDB returns the existing item.
fn part(call: WriteCall, table: &str) -> Result<TransactWriteItem, Failure> {
    let WriteCall { key, action, condition, names, values } = call;
    let key = Some(key_to_sdk(&key));
    let part = TransactWriteItem::builder();
    // Four builders of the SDK that differ only in their types.
    macro_rules! complete {
        ($builder:expr) => {
            $builder
                .table_name(table)
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values.map(to_sdk))
                .return_values_on_condition_check_failure(AllOld)
                .build()
                .map_err(|error| Failure::Final(error.to_string()))?
        };
    }
    let part = match action {
        Action::Put(item) => part.put(complete!(Put::builder().set_item(Some(to_sdk(item))))),
        Action::Update(expression) => {
            part.update(complete!(Update::builder().set_key(key).update_expression(expression)))
        }
        Action::Delete => part.delete(complete!(Delete::builder().set_key(key))),
        Action::Check => part.condition_check(complete!(ConditionCheck::builder().set_key(key))),
    };
    Ok(part.build())
}

fn reason(reason: &CancellationReason) -> Reason {
    let code = reason.code().filter(|code| *code != "None").map(str::to_owned);
    let message = reason.message().map(str::to_owned);
    Reason { code, message, item: reason.item().cloned().map(from_sdk) }
}

fn failure<E, R>(error: &SdkError<E, R>) -> Failure
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    R: std::fmt::Debug + 'static,
{
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
    Failure::of_code(code, format!("a call to the table failed: {}", DisplayErrorContext(error)))
}

fn to_sdk(item: Item) -> SdkItem {
    item.into_iter().map(|(name, value)| (name, value.into())).collect()
}

fn key_to_sdk(key: &Key) -> SdkItem {
    to_sdk(key_item(key))
}

fn from_sdk(item: SdkItem) -> Item {
    item.into_iter().map(|(name, value)| (name, value.into())).collect()
}
