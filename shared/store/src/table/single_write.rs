//! Writes of single items.

use aws_sdk_dynamodb::{
    error::{ProvideErrorMetadata, SdkError},
    operation::{
        delete_item::DeleteItemError, put_item::PutItemError, update_item::UpdateItemError,
    },
    types::{ReturnValue, ReturnValuesOnConditionCheckFailure::AllOld},
};

use crate::{
    Error, Result,
    table::{
        Table, WriteError,
        refusal::Refusal,
        retries::Failure,
        write::{Action, Expressions, Item, Parts, Write},
    },
};

struct FailedTry {
    failure: Failure,
    /// The item as a failed condition found it.
    existing: Option<Item>,
}

impl FailedTry {
    fn new<E, R>(error: &SdkError<E, R>, existing: impl Fn(&E) -> Option<Item>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: std::fmt::Debug + 'static,
    {
        let existing = error.as_service_error().and_then(existing);
        Self { failure: Failure::of(error), existing }
    }
}

impl Table {
    /// Does one write. Returns the item as it is after an update, or as it was before a deletion.
    pub async fn write(&self, write: Write) -> Result<Option<Item>, WriteError> {
        let mut retries = self.retries();
        loop {
            let FailedTry { failure, existing } = match self.write_once(write.clone()).await {
                Ok(item) => return Ok(item),
                Err(failed) => failed,
            };
            match failure {
                Failure::Condition => {
                    return Err(WriteError::Refused(Refusal::new(vec![(write.key, existing)])));
                }
                Failure::Transient(text) => retries.wait(Error::Retry(text)).await?,
                Failure::Final(text) => return Err(Error::Internal(text).into()),
            }
        }
    }

    /// Does one write that has no condition.
    pub async fn write_always(&self, write: Write) -> Result<()> {
        match self.write(write).await {
            Ok(_) => Ok(()),
            Err(WriteError::Refused(_)) => {
                Err(Error::Internal("a write without a condition was refused".into()))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Does one write if its condition holds. Otherwise there was nothing to do, or it was done
    /// before.
    pub async fn write_where_it_holds(&self, write: Write) -> Result<()> {
        match self.write(write).await {
            Ok(_) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    async fn write_once(&self, write: Write) -> Result<Option<Item>, FailedTry> {
        let Parts { action, key, expressions } = write.into_parts();
        match action {
            Action::Put(item) => self.put_once(item, expressions).await,
            Action::Update(update) => self.update_once(key, update, expressions).await,
            Action::Delete => self.delete_once(key, expressions).await,
            Action::Check => Err(FailedTry {
                failure: Failure::Final("a check is only possible in a transaction".into()),
                existing: None,
            }),
        }
    }

    async fn put_once(
        &self,
        item: Item,
        expressions: Expressions,
    ) -> Result<Option<Item>, FailedTry> {
        let sent = self
            .client
            .put_item()
            .table_name(&*self.name)
            .set_item(Some(item))
            .set_condition_expression(expressions.condition)
            .set_expression_attribute_names(expressions.names)
            .set_expression_attribute_values(expressions.values)
            .return_values_on_condition_check_failure(AllOld)
            .send()
            .await;
        sent.map(|_| None).map_err(|error| {
            FailedTry::new(&error, |error| match error {
                PutItemError::ConditionalCheckFailedException(failed) => failed.item().cloned(),
                _ => None,
            })
        })
    }

    async fn update_once(
        &self,
        key: Item,
        update: String,
        expressions: Expressions,
    ) -> Result<Option<Item>, FailedTry> {
        let sent = self
            .client
            .update_item()
            .table_name(&*self.name)
            .set_key(Some(key))
            .update_expression(update)
            .set_condition_expression(expressions.condition)
            .set_expression_attribute_names(expressions.names)
            .set_expression_attribute_values(expressions.values)
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(AllOld)
            .send()
            .await;
        sent.map(|answer| answer.attributes).map_err(|error| {
            FailedTry::new(&error, |error| match error {
                UpdateItemError::ConditionalCheckFailedException(failed) => failed.item().cloned(),
                _ => None,
            })
        })
    }

    async fn delete_once(
        &self,
        key: Item,
        expressions: Expressions,
    ) -> Result<Option<Item>, FailedTry> {
        let sent = self
            .client
            .delete_item()
            .table_name(&*self.name)
            .set_key(Some(key))
            .set_condition_expression(expressions.condition)
            .set_expression_attribute_names(expressions.names)
            .set_expression_attribute_values(expressions.values)
            .return_values_on_condition_check_failure(AllOld)
            .return_values(ReturnValue::AllOld)
            .send()
            .await;
        sent.map(|answer| answer.attributes).map_err(|error| {
            FailedTry::new(&error, |error| match error {
                DeleteItemError::ConditionalCheckFailedException(failed) => failed.item().cloned(),
                _ => None,
            })
        })
    }
}
