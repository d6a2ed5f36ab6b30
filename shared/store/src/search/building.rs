//! Builds the block of 100 messages and stores it.

use smartspace_domain::{
    ids::SpaceId,
    search::{BLOCK_MESSAGES, Block, Entry, numbers_of},
};

use crate::{
    Blocks, Result,
    messages::Range,
    search::item::block_writes,
    shared::{
        message::Overflow,
        space::{no_such_space, space_exists},
    },
    table::{WriteError, keys, write::Write},
};

/// What became of a block that was to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    Now,
    /// Another job has stored it.
    Before,
    /// A message was edited or deleted since this block was drafted.
    Outdated,
}

/// A block that can be stored.
#[derive(Debug)]
pub struct BlockDraft {
    space: SpaceId,
    number: u64,
    /// `META.rev` before its messages were read.
    rev: u64,
    /// The writes of its items.
    items: Vec<Write>,
}

impl Blocks<'_> {
    /// Reads the messages of a block. Returns `None` if it can't be stored: some of its messages
    /// are not sent yet, or it would be too large. It gives way to other tasks before it builds.
    pub async fn draft(self, space: SpaceId, number: u64) -> Result<Option<BlockDraft>> {
        // Before the messages: whatever changes from here on makes the draft outdated.
        let rev = self.state(space).await?.rev;
        let numbers = numbers_of(number);
        let range = Range::After(numbers.start() - 1);
        let most = usize::try_from(BLOCK_MESSAGES).unwrap_or(usize::MAX);
        let records = self.store.messages().whole_records(space, range, most).await?;
        if records.last().is_none_or(|record| record.seq != *numbers.end()) {
            return Ok(None);
        }
        tokio::task::yield_now().await;
        let messages = records.into_iter().map(|it| it.view(space, Overflow::default(), None));
        let entries: Vec<_> = messages.filter_map(|message| Entry::of(&message)).collect();
        let items = block_writes(space, number, &Block::of(&entries), rev)?;
        Ok(items.map(|items| BlockDraft { space, number, rev, items }))
    }

    /// Stores a block, unless it is stored already, or a message of the space was edited or deleted
    /// since it was drafted. Fails with [`Error::NotFound`](crate::Error::NotFound) if the space is
    /// deleted.
    pub async fn store(self, draft: BlockDraft) -> Result<Built> {
        let BlockDraft { space, number, rev, items } = draft;
        let unchanged = Write::check(keys::find_meta(space));
        let unchanged = if rev == 0 {
            unchanged.when("attribute_not_exists(#rev)")
        } else {
            unchanged.when("#rev = :rev").value(":rev", rev)?
        };
        let mut writes = items;
        writes.extend([unchanged, space_exists(space)]);
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(Built::Now),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::space_meta(space)) => {
                Err(no_such_space())
            }
            // It was stored by another job, or by the first try, whose answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::block(space, number)) => {
                Ok(Built::Before)
            }
            Err(WriteError::Refused(_)) => Ok(Built::Outdated),
        }
    }
}
