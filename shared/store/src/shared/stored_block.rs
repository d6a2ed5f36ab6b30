//! Blocks of words as they are stored, and what an edit or a deletion of a message does to the one
//! that covers it.

use serde::{Deserialize, Serialize};
use smartspace_domain::ids::SpaceId;

use crate::{
    Result,
    shared::packed::Packed,
    table::{keys, write::Write},
};

/// A block, or a part of one. All of its items have the same `rev`: a reader may find some items of
/// a block that was deleted, and others of the one that was built after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockItem {
    /// `META.rev` when the block was written.
    #[serde(default)]
    pub(crate) rev: u64,
    /// How many parts the block has, in items of their own. This item then has no bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parts: Option<u64>,
    /// The bytes of the block, compressed, or a part of them.
    #[serde(default, skip_serializing_if = "Packed::is_empty")]
    pub(crate) packed: Packed,
}

/// A block, as somebody found it who deletes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredBlock {
    space: SpaceId,
    number: u64,
    /// In how many parts it is stored. 0 if it has no parts, or if it was not built.
    parts: u64,
}

impl StoredBlock {
    /// `item` is the first item of the block, if there is one.
    pub(crate) fn of(space: SpaceId, number: u64, item: Option<&BlockItem>) -> Self {
        let parts = item.and_then(|item| item.parts).unwrap_or_default();
        Self { space, number, parts }
    }

    /// The writes of an edit or a deletion of a message: they delete the block that covers it, and
    /// refuse one that is being built from what was read before.
    pub(crate) fn drop_writes(self) -> Result<Vec<Write>> {
        let meta = Write::count(keys::find_meta(self.space), "ADD #rev :one").value(":one", 1)?;
        Ok([meta].into_iter().chain(self.delete_writes()?).collect())
    }

    /// The writes that delete it.
    pub(crate) fn delete_writes(self) -> Result<Vec<Write>> {
        let Self { space, number, parts } = self;
        // A job may have stored it since it was read. Only one with other parts is not deleted by
        // these writes.
        let block = Write::delete(keys::block(space, number));
        let block = if parts == 0 {
            block.when("attribute_not_exists(#parts)")
        } else {
            block.when("#parts = :parts").value(":parts", parts)?
        };
        let parts = (1..=parts).map(|part| Write::delete(keys::block_part(space, number, part)));
        Ok([block].into_iter().chain(parts).collect())
    }
}
