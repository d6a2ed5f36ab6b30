//! Blocks as bytes: the messages, the words, the postings. The store compresses them.

use std::collections::BTreeMap;

use super::{
    block::{Block, BlockMessage, WORD_END},
    entry::HasFlags,
    varint::{self, Reader},
};
use crate::{Error, Result, Time, ids::EntityId};

/// The form of the bytes and of the words. Blocks of another form are not read.
const FORM: u64 = 1;

impl Block {
    /// The block as bytes, not compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.words.len() + self.postings.len() + 1024);
        varint::write(&mut bytes, FORM);
        self.write_messages(&mut bytes);
        write_ascending(&mut bytes, &self.unsettled);
        varint::write(&mut bytes, self.word_count() as u64);
        bytes.extend(self.words.as_bytes());
        let mut start = 0;
        for end in &self.posting_ends {
            varint::write(&mut bytes, u64::from(end - start));
            start = *end;
        }
        bytes.extend(&self.postings);
        bytes
    }

    /// The block with these bytes.
    ///
    /// # Errors
    /// `internal` if they are not those of a block.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read_block(Reader::new(bytes))
            .ok_or_else(|| Error::Internal("a block of messages cannot be read".into()))
    }

    /// Writes a column after the other, which compresses better than message after message.
    fn write_messages(&self, bytes: &mut Vec<u8>) {
        let seqs: Vec<_> = self.messages.iter().map(|message| message.seq).collect();
        write_ascending(bytes, &seqs);
        let mut before = 0;
        for message in &self.messages {
            let at = message.at.as_millis();
            varint::write_signed(bytes, at.wrapping_sub(before));
            before = at;
        }
        let mut senders = BTreeMap::new();
        for message in &self.messages {
            let next = senders.len() as u64;
            senders.entry(message.sender).or_insert(next);
        }
        let mut ids: Vec<_> = senders.iter().map(|(id, index)| (*index, *id)).collect();
        ids.sort_unstable();
        varint::write(bytes, ids.len() as u64);
        for (_, id) in ids {
            bytes.extend(id.to_string().as_bytes());
            bytes.push(WORD_END as u8);
        }
        for message in &self.messages {
            varint::write(bytes, senders.get(&message.sender).copied().unwrap_or_default());
        }
        bytes.extend(self.messages.iter().map(|message| message.has.0));
        for message in &self.messages {
            varint::write(bytes, message.length.into());
        }
    }
}

/// Writes how many numbers there are, and the distances between them.
fn write_ascending(bytes: &mut Vec<u8>, numbers: &[u64]) {
    varint::write(bytes, numbers.len() as u64);
    let mut next = 0;
    for number in numbers {
        varint::write(bytes, number - next);
        next = number + 1;
    }
}

fn read_ascending(reader: &mut Reader<'_>) -> Option<Vec<u64>> {
    let count = reader.read_count()?;
    let mut numbers = Vec::with_capacity(count);
    let mut next: u64 = 0;
    for _ in 0..count {
        let number = reader.read()?.checked_add(next)?;
        numbers.push(number);
        next = number.checked_add(1)?;
    }
    Some(numbers)
}

fn read_line<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    std::str::from_utf8(reader.take_until(WORD_END as u8)?).ok()
}

fn read_messages(reader: &mut Reader<'_>) -> Option<Vec<BlockMessage>> {
    let seqs = read_ascending(reader)?;
    let mut times = Vec::with_capacity(seqs.len());
    let mut at: i64 = 0;
    for _ in &seqs {
        at = at.wrapping_add(reader.read_signed()?);
        times.push(Time::from_millis(at));
    }
    let mut ids = Vec::new();
    for _ in 0..reader.read_count()? {
        ids.push(read_line(reader)?.parse::<EntityId>().ok()?);
    }
    let mut senders = Vec::with_capacity(seqs.len());
    for _ in &seqs {
        let index = usize::try_from(reader.read()?).ok()?;
        senders.push(*ids.get(index)?);
    }
    let has = reader.take(seqs.len())?;
    let mut messages = Vec::with_capacity(seqs.len());
    for (index, seq) in seqs.into_iter().enumerate() {
        messages.push(BlockMessage {
            seq,
            at: times[index],
            sender: senders[index],
            has: HasFlags(has[index]),
            length: u32::try_from(reader.read()?).ok()?,
        });
    }
    Some(messages)
}

fn read_block(mut reader: Reader<'_>) -> Option<Block> {
    if reader.read()? != FORM {
        return None;
    }
    let messages = read_messages(&mut reader)?;
    let unsettled = read_ascending(&mut reader)?;
    let count = reader.read_count()?;
    let mut word_ends = Vec::with_capacity(count);
    for end in reader.find(WORD_END as u8).take(count) {
        word_ends.push(u32::try_from(end).ok()?);
    }
    let words = match (word_ends.len() == count, word_ends.last()) {
        (true, Some(end)) => reader.take(*end as usize + 1)?,
        (true, None) => &[],
        (false, _) => return None,
    };
    let words = std::str::from_utf8(words).ok()?.to_owned();
    let mut posting_ends = Vec::with_capacity(count);
    let mut end = 0_u32;
    for _ in 0..count {
        end = end.checked_add(u32::try_from(reader.read()?).ok()?)?;
        posting_ends.push(end);
    }
    let postings = reader.take(end as usize)?.to_vec();
    let block = Block { messages, unsettled, words, word_ends, postings, posting_ends };
    reader.is_at_end().then_some(block)
}
