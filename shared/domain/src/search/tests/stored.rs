//! Blocks as they are stored.

use super::{Block, Entry, entry, query};
use crate::search::{block_of, numbers_of};

#[test]
fn numbers_belong_to_blocks() {
    assert_eq!([1, 100, 101, 1_204].map(block_of), [0, 0, 1, 12]);
    assert_eq!(numbers_of(12), 1_201..=1_300);
}

#[test]
fn a_block_is_read_as_it_was_written() {
    let texts = ["the rollback plan", "漢字検索 👍", "", "plan, plan B: Überfall"];
    let entries: Vec<_> =
        texts.iter().enumerate().map(|(index, text)| entry(201 + 3 * index as u64, text)).collect();
    for block in [Block::of(&entries), Block::of(&[])] {
        assert_eq!(Block::from_bytes(&block.to_bytes()).unwrap(), block);
    }
    let block = Block::of(&entries);
    assert_eq!(block.first_at(), Some(entries[0].at));
    assert!(block.has_word("plan") && block.has_word("uberfall"));
    assert!(!block.has_word("pla") && !block.has_word("zzz"));
    let matches = block.matches(&query("plan"), 1..=u64::MAX);
    let seqs: Vec<_> = matches.candidates.iter().map(|candidate| candidate.seq).collect();
    assert_eq!(seqs, [201, 210]);
    assert_eq!(matches.messages, 4);
}

#[test]
fn a_block_leaves_out_what_still_changes() {
    let open = Entry { unsettled: true, ..entry(2, "which harbour") };
    let block = Block::of(&[entry(1, "plan"), open, entry(3, "plan")]);
    assert_eq!(block.unsettled(), [2]);
    assert!(!block.has_word("harbour"));
    assert_eq!(Block::from_bytes(&block.to_bytes()).unwrap(), block);
    assert_eq!(block.matches(&query("harbour"), 1..=100).messages, 2);
}

#[test]
fn damaged_bytes_are_refused_or_read_without_a_panic() {
    let block = Block::of(&[entry(1, "the rollback plan"), entry(2, "漢字 plan")]);
    let bytes = block.to_bytes();
    assert!(Block::from_bytes(&[]).is_err());
    assert!(Block::from_bytes(&[2]).is_err());
    for end in 0..bytes.len() {
        assert!(Block::from_bytes(&bytes[..end]).is_err(), "{end}");
    }
    for at in 0..bytes.len() {
        for value in [0, 1, 9, 127, 128, 255] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            if let Ok(block) = Block::from_bytes(&damaged) {
                let q = query("\"rollback plan\" 字 pl* -the");
                assert!(block.matches(&q, 0..=u64::MAX).messages <= bytes.len() as u64);
            }
        }
    }
}
