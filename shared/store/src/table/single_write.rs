//! Writes of single items.

use crate::{
    Error, Result,
    table::{
        Table, WriteError,
        database::Failure,
        refusal::Refusal,
        write::{Item, Write},
    },
};

impl Table {
    /// Does one write. Returns the item as it is after an update, or as it was before a deletion.
    pub async fn write(&self, write: Write) -> Result<Option<Item>, WriteError> {
        let mut retries = self.retries();
        loop {
            match self.database.write(write.call()).await {
                Ok(item) => return Ok(item),
                Err(Failure::Condition(existing)) => {
                    return Err(WriteError::Refused(Refusal::new(vec![(write.key, existing)])));
                }
                Err(Failure::Transient(text)) => retries.wait(Error::Retry(text)).await?,
                Err(Failure::Final(text)) => return Err(Error::Internal(text).into()),
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

    /// Does one write on the condition that its item is as it was read. Returns false if the item
    /// has changed. An item that no longer exists needs no change.
    pub async fn write_if_unchanged(&self, write: Write) -> Result<bool> {
        let key = write.key.clone();
        match self.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(refusal)) => Ok(!refusal.finds(&key)),
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
}
