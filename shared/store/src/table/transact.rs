//! Transactions: all writes take effect, or none.

use crate::{
    Error, Result,
    table::{
        Table, WriteError,
        database::{CONDITION_FAILED, Failure, Reason, TransactFailure},
        refusal::Refusal,
        write::Write,
    },
};

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
        loop {
            match self.database.transact(writes.iter().map(Write::call).collect()).await {
                Ok(()) => return Ok(()),
                Err(TransactFailure::Canceled(reasons)) => {
                    if let Some(error) = final_error(writes, reasons) {
                        return Err(error);
                    }
                }
                Err(TransactFailure::Failed(Failure::Final(text))) => {
                    return Err(Error::Internal(text).into());
                }
                Err(TransactFailure::Failed(_)) => {}
            }
            retries.wait(Error::Retry(unknown_outcome())).await?;
        }
    }
}

/// The error of a canceled transaction, or `None` if another try may succeed.
fn final_error(writes: &[Write], reasons: Vec<Reason>) -> Option<WriteError> {
    let codes = || reasons.iter().filter_map(|reason| reason.code.as_deref());
    if !codes().all(|code| code == CONDITION_FAILED || TRANSIENT.contains(&code)) {
        let text = format!("a transaction was refused: {reasons:?}");
        return Some(Error::Internal(text).into());
    }
    // While another transaction works on one of the items, the condition on that item is not
    // evaluated. That item may be the one that holds our token.
    if codes().next().is_none() || !codes().all(|code| code == CONDITION_FAILED) {
        return None;
    }
    let failed = writes
        .iter()
        .zip(reasons)
        .filter(|(_, reason)| reason.code.is_some())
        .map(|(write, reason)| (write.key.clone(), reason.item));
    Some(WriteError::Refused(Refusal::new(failed.collect())))
}

fn unknown_outcome() -> String {
    "the outcome of this write is unknown; repeat it with the same Idempotency-Key".into()
}
