//! A block, as the table stores it: one item, or several if it is too large for one.

use smartspace_domain::{ids::SpaceId, search::Block};

use crate::{
    Result,
    shared::{packed::Packed, stored_block::BlockItem},
    table::{
        keys,
        write::{Item, Write, text},
    },
};

/// How many bytes of a block one item holds.
const PART_BYTES: usize = 300 << 10;
/// A block in more parts is not stored: a transaction has at most 4 MB, and its 100 messages are as
/// fast to read.
const MOST_PARTS: u64 = 9;

/// The writes that store a block, which must not exist yet. `None` if the block is too large.
pub(super) fn block_writes(
    space: SpaceId,
    number: u64,
    block: &Block,
    rev: u64,
) -> Result<Option<Vec<Write>>> {
    let packed = Packed::small_bytes(&block.to_bytes())?;
    let key = keys::block(space, number);
    if packed.len() <= PART_BYTES {
        let item = BlockItem { rev, parts: None, packed };
        return Ok(Some(vec![Write::put(key, &item)?.if_absent()]));
    }
    let parts = packed.split(PART_BYTES);
    let count = parts.len() as u64;
    if count > MOST_PARTS {
        return Ok(None);
    }
    let head = BlockItem { rev, parts: Some(count), packed: Packed::default() };
    let mut writes = vec![Write::put(key, &head)?.if_absent()];
    for (part, packed) in (1..).zip(parts) {
        let item = BlockItem { rev, parts: None, packed };
        writes.push(Write::put(keys::block_part(space, number, part), &item)?);
    }
    Ok(Some(writes))
}

/// The items of one block, as queries return them.
#[derive(Debug, Default)]
pub(super) struct BlockItems {
    head: Option<BlockItem>,
    parts: Vec<(u64, BlockItem)>,
}

impl BlockItems {
    pub(super) fn add(&mut self, part: Option<u64>, item: BlockItem) {
        match part {
            None => self.head = Some(item),
            Some(part) => self.parts.push((part, item)),
        }
    }

    pub(super) fn head(&self) -> Option<&BlockItem> {
        self.head.as_ref()
    }

    /// The block. `None` if items of it are missing or can't be read: then its messages are read.
    pub(super) fn block(mut self) -> Option<Block> {
        let head = self.head?;
        let Some(count) = head.parts else { return unpacked(&head.packed) };
        self.parts.sort_unstable_by_key(|(part, _)| *part);
        let is_whole = self.parts.len() as u64 == count
            && self.parts.iter().all(|(_, item)| item.rev == head.rev);
        let parts = self.parts.into_iter().map(|(_, item)| item.packed);
        is_whole.then(|| Packed::join(parts)).and_then(|packed| unpacked(&packed))
    }
}

fn unpacked(packed: &Packed) -> Option<Block> {
    Block::from_bytes(&packed.bytes().ok()?).ok()
}

/// The number of the block that an item belongs to, and the number of its part if it is one.
pub(super) fn place_of(item: &Item) -> Option<(u64, Option<u64>)> {
    let place = text(item, "SK")?.strip_prefix(keys::BLOCK)?;
    match place.split_once('#') {
        None => Some((place.parse().ok()?, None)),
        Some((number, part)) => Some((number.parse().ok()?, Some(part.parse().ok()?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_two_builds_are_no_block() {
        let packed = Packed::small_bytes(&Block::default().to_bytes()).unwrap();
        let parts = packed.split(3);
        let count = parts.len() as u64;
        let part = |rev, number: u64| {
            let packed = parts[usize::try_from(number - 1).unwrap()].clone();
            (Some(number), BlockItem { rev, parts: None, packed })
        };
        let head = BlockItem { rev: 1, parts: Some(count), packed: Packed::default() };
        // Newest first, as a query reads them: the parts come before their head.
        let block = |items: Vec<(Option<u64>, BlockItem)>| {
            let mut found = BlockItems::default();
            for (part, item) in items.into_iter().chain([(None, head.clone())]) {
                found.add(part, item);
            }
            found.block()
        };
        let all = || (1..=count).rev();
        assert!(count > 1);
        assert_eq!(block(all().map(|number| part(1, number)).collect()), Some(Block::default()));
        assert_eq!(block(all().skip(1).map(|number| part(1, number)).collect()), None);
        let mixed = all().map(|number| part(u64::from(number != count), number));
        assert_eq!(block(mixed.collect()), None);
        let whole = BlockItem { rev: 1, parts: None, packed };
        let mut found = BlockItems::default();
        found.add(None, whole);
        assert_eq!(found.block(), Some(Block::default()));
    }

    #[test]
    fn the_key_of_an_item_names_its_block_and_its_part() {
        let space = SpaceId::new(smartspace_domain::Time::from_millis(0), 1);
        let place = |key| place_of(&crate::table::write::key_item(&key));
        assert_eq!(place(keys::block(space, 12)), Some((12, None)));
        assert_eq!(place(keys::block_part(space, 12, 3)), Some((12, Some(3))));
        assert_eq!(place(keys::find_meta(space)), None);
    }
}
