//! The store's calls, answered without a detour through the SDK and JSON.

use std::{collections::HashMap, sync::atomic::Ordering};

use async_trait::async_trait;
use dynoxide::{
    Database as Engine, DynoxideError,
    actions::{
        batch_get_item::{BatchGetItemRequest, KeysAndAttributes},
        delete_item::DeleteItemRequest,
        get_item::GetItemRequest,
        put_item::PutItemRequest,
        query::QueryRequest,
        transact_write_items::{
            TransactConditionCheck, TransactDelete, TransactPut, TransactUpdate, TransactWriteItem,
            TransactWriteItemsRequest,
        },
        update_item::UpdateItemRequest,
    },
    errors::CancellationReason,
};
use smartspace_store::table::{
    database::{Batch, Database, Failure, Reason, TransactFailure},
    query::{Page, QueryCall},
    write::{Action, Item, WriteCall},
};

use crate::embedded_table::{
    EmbeddedTable, NAME,
    items::{from_engine, to_engine},
};

const ALL_OLD: &str = "ALL_OLD";
const ALL_NEW: &str = "ALL_NEW";

#[async_trait]
impl Database for EmbeddedTable {
    async fn get(&self, key: Item) -> Result<Option<Item>, Failure> {
        let request = GetItemRequest {
            table_name: NAME.into(),
            key: to_engine(key),
            consistent_read: Some(true),
            ..GetItemRequest::default()
        };
        let answer = self.call("GetItem", |engine| engine.get_item(request)).await?;
        Ok(answer.item.map(from_engine))
    }

    async fn get_batch(&self, keys: Vec<Item>) -> Result<Batch, Failure> {
        let keys = KeysAndAttributes {
            keys: keys.into_iter().map(to_engine).collect(),
            consistent_read: Some(true),
            ..KeysAndAttributes::default()
        };
        let request = BatchGetItemRequest {
            request_items: HashMap::from([(NAME.into(), keys)]),
            ..BatchGetItemRequest::default()
        };
        let answer = self.call("BatchGetItem", |engine| engine.batch_get_item(request)).await?;
        let items = answer.responses.into_values().flatten().map(from_engine).collect();
        let unread = answer.unprocessed_keys.into_values().map(unread_keys);
        Ok(Batch { items, unread: unread.collect::<Result<Vec<_>, _>>()?.concat() })
    }

    async fn query(&self, call: QueryCall) -> Result<Page, Failure> {
        let request = QueryRequest {
            table_name: NAME.into(),
            consistent_read: Some(call.index.is_none()),
            index_name: call.index.map(str::to_owned),
            key_condition_expression: Some(call.condition),
            expression_attribute_values: Some(to_engine(call.values)),
            scan_index_forward: !call.newest_first,
            limit: call.limit,
            exclusive_start_key: call.after.map(to_engine),
            ..QueryRequest::default()
        };
        let answer = self.call("Query", |engine| engine.query(request)).await?;
        Ok(Page {
            items: answer.items.unwrap_or_default().into_iter().map(from_engine).collect(),
            next: answer.last_evaluated_key.map(from_engine),
        })
    }

    async fn write(&self, call: WriteCall) -> Result<Option<Item>, Failure> {
        let WriteCall { action, condition: condition_expression, names, values } = call;
        let expression_attribute_names = names;
        let expression_attribute_values = values.map(to_engine);
        let return_values_on_condition_check_failure = Some(ALL_OLD.to_owned());
        let item = match action {
            Action::Put(item) => {
                let request = PutItemRequest {
                    table_name: NAME.into(),
                    item: to_engine(item),
                    condition_expression,
                    expression_attribute_names,
                    expression_attribute_values,
                    return_values_on_condition_check_failure,
                    ..PutItemRequest::default()
                };
                self.call("PutItem", |engine| engine.put_item(request)).await?;
                None
            }
            Action::Update { key, expression } => {
                let request = UpdateItemRequest {
                    table_name: NAME.into(),
                    key: to_engine(key),
                    update_expression: Some(expression),
                    condition_expression,
                    expression_attribute_names,
                    expression_attribute_values,
                    return_values: Some(ALL_NEW.into()),
                    return_values_on_condition_check_failure,
                    ..UpdateItemRequest::default()
                };
                self.call("UpdateItem", |engine| engine.update_item(request)).await?.attributes
            }
            Action::Delete { key } => {
                let request = DeleteItemRequest {
                    table_name: NAME.into(),
                    key: to_engine(key),
                    condition_expression,
                    expression_attribute_names,
                    expression_attribute_values,
                    return_values: Some(ALL_OLD.into()),
                    return_values_on_condition_check_failure,
                    ..DeleteItemRequest::default()
                };
                self.call("DeleteItem", |engine| engine.delete_item(request)).await?.attributes
            }
            Action::Check { .. } => {
                return Err(Failure::Final("a check is only possible in a transaction".into()));
            }
        };
        Ok(item.map(from_engine))
    }

    async fn transact(&self, calls: Vec<WriteCall>) -> Result<(), TransactFailure> {
        let request = TransactWriteItemsRequest {
            transact_items: calls.into_iter().map(part).collect(),
            ..TransactWriteItemsRequest::default()
        };
        match self
            .with_turn("TransactWriteItems", |engine| engine.transact_write_items(request))
            .await
        {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(DynoxideError::TransactionCanceledException(_, reasons))) => {
                Err(TransactFailure::Canceled(reasons.into_iter().map(reason).collect()))
            }
            Ok(Err(error)) => Err(TransactFailure::Failed(failure(error))),
            Err(failure) => Err(TransactFailure::Failed(failure)),
        }
    }
}

impl EmbeddedTable {
    async fn call<T: Send + 'static>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&Engine) -> Result<T, DynoxideError> + Send + 'static,
    ) -> Result<T, Failure> {
        self.with_turn(operation, call).await?.map_err(failure)
    }

    /// Makes a call at once if no other is under way. Otherwise a thread that may block waits for
    /// its turn.
    async fn with_turn<T: Send + 'static>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        tracing::trace!(operation, "table call");
        if !self.is_sweeping.load(Ordering::Relaxed)
            && let Ok(_turn) = self.turn.try_lock()
        {
            return Ok(call(&self.database));
        }
        let table = self.clone();
        let waited = tokio::task::spawn_blocking(move || {
            let _turn = table.turn.blocking_lock();
            call(&table.database)
        });
        waited.await.map_err(|error| Failure::Transient(format!("a table call broke off: {error}")))
    }
}

fn part(call: WriteCall) -> TransactWriteItem {
    let WriteCall { action, condition: condition_expression, names, values } = call;
    let table_name = NAME.to_owned();
    let expression_attribute_names = names;
    let expression_attribute_values = values.map(to_engine);
    let return_values_on_condition_check_failure = Some(ALL_OLD.to_owned());
    let mut part = TransactWriteItem::default();
    match action {
        Action::Put(item) => {
            part.put = Some(TransactPut {
                table_name,
                item: to_engine(item),
                condition_expression,
                expression_attribute_names,
                expression_attribute_values,
                return_values_on_condition_check_failure,
            });
        }
        Action::Update { key, expression } => {
            part.update = Some(TransactUpdate {
                table_name,
                key: to_engine(key),
                update_expression: expression,
                condition_expression,
                expression_attribute_names,
                expression_attribute_values,
                return_values_on_condition_check_failure,
            });
        }
        Action::Delete { key } => {
            part.delete = Some(TransactDelete {
                table_name,
                key: to_engine(key),
                condition_expression,
                expression_attribute_names,
                expression_attribute_values,
                return_values_on_condition_check_failure,
            });
        }
        Action::Check { key } => {
            part.condition_check = Some(TransactConditionCheck {
                table_name,
                key: to_engine(key),
                condition_expression: condition_expression.unwrap_or_default(),
                expression_attribute_names,
                expression_attribute_values,
                return_values_on_condition_check_failure,
            });
        }
    }
    part
}

fn reason(reason: CancellationReason) -> Reason {
    let code = Some(reason.code).filter(|code| code != "None");
    Reason { code, message: reason.message, item: reason.item.map(from_engine) }
}

fn failure(error: DynoxideError) -> Failure {
    let code = error.error_type().rsplit('#').next().map(str::to_owned);
    match error {
        DynoxideError::ConditionalCheckFailedException(_, item) => {
            Failure::Condition(item.map(from_engine))
        }
        error => Failure::of_code(code.as_deref(), format!("a call to the table failed: {error}")),
    }
}

/// The keys that a batch left unread, which the engine returns as JSON.
fn unread_keys(unread: serde_json::Value) -> Result<Vec<Item>, Failure> {
    let failed = |error| Failure::Transient(format!("a batch could not be read: {error}"));
    let unread: KeysAndAttributes = serde_json::from_value(unread).map_err(failed)?;
    Ok(unread.keys.into_iter().map(from_engine).collect())
}
