//! Settling an entity: after a rename or a retirement, it is due until all its spaces have the
//! change.

use smartspace_domain::Time;

use crate::{
    Entities, Result,
    entities::EntityRecord,
    table::{WriteError, keys, write::Write},
};

impl Entities<'_> {
    /// Takes an entity off the due index, if it has not changed since it was read.
    pub async fn settled(self, record: &EntityRecord) -> Result<()> {
        self.store
            .table
            .write_where_it_holds(unchanged(record, "REMOVE #due, #dueAt, #dueCount, #settlesAt")?)
            .await
    }

    /// Makes an entity due for its last settling round at `at`. Returns false if it has changed
    /// since it was read, or is settled.
    pub async fn settle_again(self, record: &EntityRecord, at: Time) -> Result<bool> {
        let write = unchanged(record, "SET #dueAt = :at, #settlesAt = :at REMOVE #dueCount")?
            .when("attribute_exists(#due)");
        match self.store.table.write(write.value(":at", at)?).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// An update of an entity whose condition holds while the entity is as it was read. Retiring an
/// entity does not raise `rev`, so the condition names it too.
fn unchanged(record: &EntityRecord, expression: &str) -> Result<Write> {
    let write = Write::update(keys::entity_meta(record.entity.id), expression)
        .when("#rev = :rev")
        .value(":rev", record.rev)?;
    Ok(if record.retired_at.is_none() {
        write.when("attribute_not_exists(#retiredAt)")
    } else {
        write
    })
}
