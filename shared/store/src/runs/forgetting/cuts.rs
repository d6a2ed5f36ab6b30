//! Counts how often words were cut out of an item, so that two messages that are forgotten at the
//! same moment do not undo each other.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Error, Result,
    table::{keys::Key, write::Write},
};

/// How often words were cut out of an item.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Cuts {
    #[serde(default)]
    cuts: u32,
}

impl Cuts {
    /// The write with one more cut, unless another one came first. Its expression sets `:next`.
    pub(super) fn next(self, write: Write) -> Result<Write> {
        let write = write.value(":next", self.cuts + 1)?;
        self.unchanged(write)
    }

    fn unchanged(self, write: Write) -> Result<Write> {
        if self.cuts == 0 {
            return Ok(write.when("attribute_not_exists(#cuts)"));
        }
        write.when("#cuts = :cuts").value(":cuts", self.cuts)
    }

    /// The change of an item whose attributes are no bytes.
    pub(super) fn change<T: Serialize>(
        self,
        key: Key,
        before: &T,
        after: &T,
    ) -> Result<Option<Write>> {
        let item = |record: &T, cuts: u32| -> Result<Value> {
            let mut item = serde_json::to_value(record)
                .map_err(|error| Error::Internal(format!("an item is no JSON: {error}")))?;
            if cuts > 0 {
                item["cuts"] = json!(cuts);
            }
            Ok(item)
        };
        let before = item(before, self.cuts)?;
        if before == item(after, self.cuts)? {
            return Ok(None);
        }
        let write = Write::change(key, &before, &item(after, self.cuts + 1)?, &[])?;
        write.map(|write| self.unchanged(write)).transpose()
    }
}
