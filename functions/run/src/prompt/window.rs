//! Chooses the messages of a space that a prompt shows.
//!
//! The window does not slide by one message. It begins at a multiple of half its size, so that the
//! prompts of successive runs start with the same text, which providers bill at a fraction.

use std::sync::Arc;

use smartspace_domain::agents::AgentConfig;
use smartspace_store::messages::MessageRecord;

use crate::prompt::placed::Placed;

/// The default size of a window.
pub(crate) const DEFAULT_SIZE: usize = 50;
/// The longest history, in characters.
const MAX_CHARS: usize = 60_000;
/// The longest history, in percent of the model's context window.
const MAX_PERCENT: u64 = 60;
/// The fewest characters that a token of a prompt has, on average. English text has four.
const TOKEN_CHARS: u64 = 3;

/// How much of a model's context window a history may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The context window, in tokens.
    pub(crate) window: u32,
    /// The longest answer, in tokens.
    pub(crate) answer: u32,
    /// The characters of the tools.
    pub(crate) tools: usize,
    /// How often the history was halved, because the model found the prompt too long.
    pub(crate) halvings: u32,
}

impl Room {
    /// The room in the window of an agent without tools.
    pub(crate) fn without_tools(config: &AgentConfig) -> Self {
        let answer = config.model.as_ref().map_or(0, |model| model.max_output_tokens);
        Self { window: config.context_window(), answer, tools: 0, halvings: 0 }
    }

    /// The most characters of a history beside `others` in the prompt. A long answer takes at most
    /// a quarter of the window: it may be shorter than its limit.
    fn history_chars(&self, others: usize) -> usize {
        let answer = self.answer.min(self.window / 4);
        let tokens = u64::from(self.window - answer);
        let share = u64::from(self.window) * MAX_PERCENT / 100;
        let beside = (tokens * TOKEN_CHARS) as usize;
        let beside = beside.saturating_sub(self.tools + others);
        MAX_CHARS.min((share * TOKEN_CHARS) as usize).min(beside)
    }
}

/// Returns the most messages that a window of this size holds.
pub(crate) fn max_messages(window: usize) -> usize {
    window + half(window) - 1
}

fn half(window: usize) -> usize {
    (window / 2).max(1)
}

/// Returns the `seq` of the first message in the window. `last` is the last `seq` of the space.
fn first_in_window(last: u64, window: usize) -> u64 {
    let half = half(window) as u64;
    let oldest = (last + 1).saturating_sub(window as u64);
    (oldest / half * half).max(1)
}

/// The messages that a prompt shows.
pub(crate) struct Window<'a> {
    /// Oldest first.
    pub(crate) messages: &'a [Arc<MessageRecord>],
    /// The lines of each message. Their length is what the limits count.
    pub(crate) lines: Vec<Placed>,
}

impl<'a> Window<'a> {
    /// Chooses from `messages`. `write` returns the lines of a message, `others` are the characters
    /// of the rest of the prompt.
    pub(crate) fn of(
        messages: &'a [Arc<MessageRecord>],
        write: impl Fn(&MessageRecord) -> Placed,
        window: usize,
        room: Room,
        others: usize,
    ) -> Self {
        let mut lines: Vec<Placed> = messages.iter().map(|message| write(message)).collect();
        let lengths: Vec<usize> = lines.iter().map(|line| line.text.chars().count()).collect();
        let mut most_chars = room.history_chars(others);
        let mut begin = choose(messages, &lengths, window, most_chars);
        for _ in 0..room.halvings {
            most_chars = lengths[begin..].iter().sum::<usize>() / 2;
            // The beginning may be any message: the prompt in the provider's cache is too long.
            begin = (begin..messages.len().saturating_sub(1))
                .find(|from| lengths[*from..].iter().sum::<usize>() <= most_chars)
                .unwrap_or_else(|| messages.len().saturating_sub(1));
        }
        Self { messages: &messages[begin..], lines: lines.split_off(begin) }
    }

    /// Whether a message is among these.
    pub(crate) fn shows(&self, seq: u64) -> bool {
        self.messages.binary_search_by_key(&seq, |message| message.seq).is_ok()
    }

    /// The `seq` of the first message, or 1 if the window is empty.
    pub(crate) fn first_seq(&self) -> u64 {
        self.messages.first().map_or(1, |message| message.seq)
    }

    /// The `seq` of the last message, or 0 if the window is empty.
    pub(crate) fn last_seq(&self) -> u64 {
        self.messages.last().map_or(0, |message| message.seq)
    }
}

/// Returns the index of the first message to show. `lengths` has the characters of each message. If
/// all together are too long, the window begins half its size later, as often as needed.
fn choose(
    messages: &[Arc<MessageRecord>],
    lengths: &[usize],
    window: usize,
    most_chars: usize,
) -> usize {
    let Some(last) = messages.last() else { return 0 };
    let mut from = first_in_window(last.seq, window);
    loop {
        let begin = messages.partition_point(|message| message.seq < from);
        let chars: usize = lengths[begin..].iter().sum();
        // The last message is always shown. The length of its text is limited separately.
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
    fn a_window_holds_50_to_74_messages_and_moves_by_25() {
        assert_eq!([1, 49, 50, 73].map(|last| first_in_window(last, 50)), [1; 4]);
        assert_eq!([74, 75, 98].map(|last| first_in_window(last, 50)), [25; 3]);
        assert_eq!(first_in_window(99, 50), 50);
        for last in 50..1_000_u64 {
            let first = first_in_window(last, 50);
            let shown = last - first + 1;
            assert!((50..=74).contains(&shown) || (first == 1 && shown <= 74), "{last}: {shown}");
            assert!(first == 1 || first.is_multiple_of(25));
        }
        assert_eq!(max_messages(50), 74);
    }

    #[test]
    fn a_history_leaves_room_for_the_answer_the_tools_and_the_rules() {
        let room = |window, answer, tools| Room { window, answer, tools, halvings: 0 };
        assert_eq!(room(200_000, 4_096, 7_000).history_chars(3_000), MAX_CHARS);
        // A quarter is left for the answer.
        assert_eq!(room(8_192, 4_096, 7_000).history_chars(3_000), 6_144 * 3 - 10_000);
        assert_eq!(room(8_192, 96, 0).history_chars(0), 8_192 * 60 / 100 * 3);
        assert_eq!(room(2_048, 96, 7_000).history_chars(3_000), 0);
    }
}
