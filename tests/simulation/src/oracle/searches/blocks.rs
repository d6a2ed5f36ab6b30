//! What the stored blocks hold.

use std::{collections::BTreeMap, io::Read};

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::ZlibDecoder;
use serde_json::Value;
use smartspace_domain::search::{Block, block_of};

use crate::oracle::{Evidence, searches::wordings::Wordings};

/// Words that only a text has that was deleted or edited away, in a block of its message.
pub(super) fn blocks_hold_no_word_that_is_gone(
    evidence: &Evidence<'_>,
    wordings: &Wordings<'_>,
) -> Vec<String> {
    let blocks = stored_blocks(&evidence.env.storage.items());
    let mut found = Vec::new();
    for (word, message) in wordings.gone() {
        let Some((space, seq)) = message.split_once('#') else { continue };
        let number = block_of(seq.parse().unwrap_or_default());
        let block = blocks.get(&(space.to_owned(), number));
        if block.is_some_and(|block| block.has_word(word)) {
            found.push(format!(
                "the block {number} of {space} has a word of {message} that is gone"
            ));
        }
    }
    found
}

/// All blocks, by their spaces and numbers. None of them has parts.
fn stored_blocks(items: &[Value]) -> BTreeMap<(String, u64), Block> {
    let block = |item: &Value| {
        let space = item["PK"].as_str()?.strip_prefix("FIND#")?.to_owned();
        let number = item["SK"].as_str()?.strip_prefix("BLOCK#")?.parse().ok()?;
        let packed = BASE64_STANDARD.decode(item["packed"].as_str()?).ok()?;
        Some(((space, number), Block::from_bytes(&unpacked(&packed)?).ok()?))
    };
    items.iter().filter_map(block).collect()
}

fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
