//! Transactions: all writes take effect, or none.

use aws_sdk_dynamodb::{
    operation::transact_write_items::TransactWriteItemsError,
    types::{CancellationReason, error::TransactionCanceledException},
};

use crate::{
    Error, Result,
    table::{Table, WriteError, refusal::Refusal, retries::Failure, write::Write},
};

/// The reason of an item whose condition failed.
const REFUSED: &str = "ConditionalCheckFailed";
/// Reasons that may be gone at the next try.
const TRANSIENT: [&str; 3] =
    ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];

impl Table {
    /// Makes all of `writes`, or none.
    ///
    /// A transaction whose outcome is unknown is sent again unchanged. If the first try took
    /// effect, the second one is refused, and the refusal shows the caller's own token. Only the
    /// caller can tell that this is a success. A conflict with another transaction is retried too.
    pub async fn transact(&self, writes: &[Write]) -> Result<(), WriteError> {
        let mut retries = self.retries();
        let parts = writes
            .iter()
            .cloned()
            .map(|write| write.into_transact(&self.name))
            .collect::<Result<Vec<_>>>()?;
        loop {
            let Err(error) = self
                .client
                .transact_write_items()
                .set_transact_items(Some(parts.clone()))
                .send()
                .await
            else {
                return Ok(());
            };
            if let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) =
                error.as_service_error()
            {
                if let Some(error) = final_error(writes, canceled) {
                    return Err(error);
                }
            } else if let Failure::Final(text) = Failure::of(&error) {
                return Err(Error::Internal(text).into());
            }
            retries.wait(Error::Retry(unknown_outcome())).await?;
        }
    }
}

/// The error of a canceled transaction, or `None` if another try may succeed.
fn final_error(writes: &[Write], canceled: &TransactionCanceledException) -> Option<WriteError> {
    let reasons = canceled.cancellation_reasons();
    let codes =
        || reasons.iter().filter_map(CancellationReason::code).filter(|code| *code != "None");
    if !codes().all(|code| code == REFUSED || TRANSIENT.contains(&code)) {
        let text = format!("a transaction was refused: {canceled:?}");
        return Some(Error::Internal(text).into());
    }
    // While another transaction works on one of the items, the condition on that item is not
    // evaluated. That item may be the one that holds our token.
    if codes().next().is_none() || !codes().all(|code| code == REFUSED) {
        return None;
    }
    let failed = writes
        .iter()
        .zip(reasons)
        .filter(|(_, reason)| reason.code() == Some(REFUSED))
        .map(|(write, reason)| (write.key.clone(), reason.item().cloned()));
    Some(WriteError::Refused(Refusal::new(failed.collect())))
}

fn unknown_outcome() -> String {
    "the outcome of this write is unknown; repeat it with the same Idempotency-Key".into()
}
