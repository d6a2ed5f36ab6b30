//! Which messages of a space a prompt shows.
//!
//! The window does not slide by one: it begins at a multiple of half its size, so that prompts of neighbouring runs have the same beginning
//! and providers bill it at a fraction.

use std::sync::Arc;

use smartspace_store::messages::MessageRecord;

/// The usual window.
pub(crate) const USUAL: usize = 50;
/// What a history takes at most, in characters.
const MOST_CHARS: usize = 60_000;
/// What it takes at most of the model's context window, in percent; a token counts four characters.
const MOST_PERCENT: usize = 60;

/// How many messages a window of this size holds at most.
pub(crate) fn most(window: usize) -> usize {
    window + half(window) - 1
}

fn half(window: usize) -> usize {
    (window / 2).max(1)
}

/// The number that the window begins at, where `last` is the space's last message.
fn first(last: u64, window: usize) -> u64 {
    let half = half(window) as u64;
    let oldest = (last + 1).saturating_sub(window as u64);
    (oldest / half * half).max(1)
}

/// The messages that a prompt shows.
pub(crate) struct Window<'a> {
    /// They, oldest first.
    pub(crate) messages: &'a [Arc<MessageRecord>],
    /// Their lines: what they take is what they are measured by.
    pub(crate) lines: Vec<String>,
}

impl<'a> Window<'a> {
    /// Chooses of the messages that were read, each of which takes the lines that `write` gives.
    pub(crate) fn of(
        messages: &'a [Arc<MessageRecord>],
        write: impl Fn(&MessageRecord) -> String,
        window: usize,
        context_window: u32,
    ) -> Self {
        let mut lines: Vec<String> = messages.iter().map(|message| write(message)).collect();
        let lengths: Vec<usize> = lines.iter().map(|line| line.chars().count()).collect();
        let begin = choose(messages, &lengths, window, context_window);
        Self { messages: &messages[begin..], lines: lines.split_off(begin) }
    }

    /// The number of its first message; 1 where there is none.
    pub(crate) fn first(&self) -> u64 {
        self.messages.first().map_or(1, |message| message.seq)
    }

    /// The number of its last message; 0 where there is none.
    pub(crate) fn last(&self) -> u64 {
        self.messages.last().map_or(0, |message| message.seq)
    }
}

/// Where to begin, of those read, each with its length. Cut from the old end, in halves of the window, where they are too long.
fn choose(messages: &[Arc<MessageRecord>], lengths: &[usize], window: usize, context_window: u32) -> usize {
    let Some(last) = messages.last() else { return 0 };
    let most_chars = MOST_CHARS.min(context_window as usize * 4 * MOST_PERCENT / 100);
    let mut from = first(last.seq, window);
    loop {
        let begin = messages.partition_point(|message| message.seq < from);
        let chars: usize = lengths[begin..].iter().sum();
        // The last message is always shown: its text is bounded by itself.
        if chars <= most_chars || begin + 1 >= messages.len() {
            return begin;
        }
        from = (from / half(window) as u64 + 1) * half(window) as u64;
        if from > last.seq {
            return messages.len() - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_50_to_74_and_moves_by_25() {
        assert_eq!([1, 49, 50, 73].map(|last| first(last, 50)), [1; 4]);
        assert_eq!([74, 75, 98].map(|last| first(last, 50)), [25; 3]);
        assert_eq!(first(99, 50), 50);
        for last in 50..1_000_u64 {
            let first = first(last, 50);
            let shown = last - first + 1;
            assert!((50..=74).contains(&shown) || (first == 1 && shown <= 74), "{last}: {shown}");
            assert!(first == 1 || first.is_multiple_of(25));
        }
        assert_eq!(most(50), 74);
    }
}
