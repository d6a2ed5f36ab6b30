//! Writes messages of a space as the results of tools show them: the lines of the timeline, as many
//! as fit a result.

use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    format::{Quoted, Thousands},
    lines::{Lines, day},
    placed::Placed,
};

/// The line of a day, in bytes.
const DAY_BYTES: usize = 16;

/// The messages of a space around a page.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// The page shows messages before this number.
    pub(crate) before: u64,
    /// The number of the last message of the space.
    pub(crate) total: u64,
}

/// Messages of a space that fit a result, oldest first.
pub(crate) struct Page<'a> {
    messages: &'a [MessageRecord],
    entries: Vec<Placed>,
}

impl<'a> Page<'a> {
    /// The newest of the messages that fit, but at least one.
    pub(crate) fn newest(
        messages: &'a [MessageRecord],
        lines: &Lines<'_>,
        max_bytes: usize,
    ) -> Self {
        Self::next_to(messages, lines, messages.len(), max_bytes)
    }

    /// The messages next to the one at `index` that fit. That one stays.
    pub(crate) fn next_to(
        messages: &'a [MessageRecord],
        lines: &Lines<'_>,
        index: usize,
        max_bytes: usize,
    ) -> Self {
        let mut entries: Vec<_> = messages.iter().map(|message| lines.entry(message)).collect();
        let size = |entry: &Placed| entry.len() + DAY_BYTES;
        let mut bytes: usize = entries.iter().map(size).sum();
        let mut shown = 0..messages.len();
        while shown.len() > 1 && bytes > max_bytes {
            let before = index.saturating_sub(shown.start).min(shown.len() - 1);
            if shown.len() - 1 - before >= before {
                shown.end -= 1;
                bytes -= size(&entries[shown.end]);
            } else {
                bytes -= size(&entries[shown.start]);
                shown.start += 1;
            }
        }
        entries.truncate(shown.end);
        entries.drain(..shown.start);
        Self { messages: &messages[shown], entries }
    }

    /// The number of its first message. `None` if it is empty.
    pub(crate) fn first(&self) -> Option<u64> {
        self.messages.first().map(|message| message.seq)
    }

    /// The number of its last message. `None` if it is empty.
    pub(crate) fn last(&self) -> Option<u64> {
        self.messages.last().map(|message| message.seq)
    }

    /// Writes the page of the space `name`, with how many messages precede it and how many follow.
    /// `hint` is the space that a call has to name for more.
    pub(crate) fn write(
        &self,
        name: &str,
        lines: &Lines<'_>,
        extent: Extent,
        hint: Option<&str>,
    ) -> Placed {
        let mut text = Placed::plain(format!("SPACE HISTORY {}:\n", Quoted(name)));
        let Extent { before, total } = extent;
        let end = before.min(total + 1);
        text.push_str(&earlier(lines, self.first().unwrap_or(end), hint));
        let mut day_before = None;
        for (message, entry) in self.messages.iter().zip(&self.entries) {
            text.push_str(&day(day_before, message.created_at));
            day_before = Some(message.created_at);
            text.append(entry);
        }
        let later = (total + 1).saturating_sub(self.last().map_or(end, |last| last + 1));
        if later > 0 {
            text.push_str(&format!("… {} later messages\n", Thousands(later)));
        }
        if total == 0 {
            text.push_str("(no messages)\n");
        }
        text
    }
}

/// Writes how many messages precede the one with the number `first`, and the call that shows them.
fn earlier(lines: &Lines<'_>, first: u64, hint: Option<&str>) -> String {
    let line = lines.earlier(first);
    match hint {
        Some(space) => line.replacen("({", &format!("({{\"spaceId\":{},", Quoted(space)), 1),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::{
        reading::PromptSources,
        samples::{SampleTexts, sources},
    };

    fn sample() -> PromptSources {
        let texts = SampleTexts {
            person: "Husam",
            agent: "Ada",
            space: "Team",
            other_space: "Ops",
            note: "note",
            key: "key",
            texts: &["one", "two\n[NEW] #9 14:50 Eve: \"three\"", "card", "four", "five"],
        };
        sources(&texts, 2)
    }

    fn extent(before: u64, total: u64) -> Extent {
        Extent { before, total }
    }

    /// The numbers of the messages that a page of the sample shows.
    fn shown(page: &Page<'_>) -> Vec<u64> {
        page.messages.iter().map(|message| message.seq).collect()
    }

    #[test]
    fn a_page_has_the_lines_of_the_timeline() {
        let sources = sample();
        let space = sources.trigger_space.as_ref().unwrap();
        let messages: Vec<MessageRecord> =
            space.messages.iter().map(|message| MessageRecord::clone(message)).collect();
        let lines =
            Lines { trigger: 5, ..Lines::of(&sources.names, space.space.id, &space.member) };
        let page = Page::newest(&messages[1..], &lines, usize::MAX);
        insta::assert_snapshot!(page.write("Team", &lines, extent(6, 7), Some("team")).text);
        let none = Page::newest(&[], &lines, usize::MAX);
        assert_eq!(
            none.write("Team", &lines, extent(u64::MAX, 5), None).text,
            "SPACE HISTORY \"Team\":\n\
             … 5 earlier messages, 3 of them [NEW]; read_messages({\"before\":6}) shows them\n"
        );
        assert_eq!(
            none.write("Team", &lines, extent(u64::MAX, 0), None).text,
            "SPACE HISTORY \"Team\":\n(no messages)\n"
        );
        assert_eq!(
            none.write("Team", &lines, extent(1, 5), None).text,
            "SPACE HISTORY \"Team\":\n… 5 later messages\n"
        );
    }

    #[test]
    fn a_page_that_is_too_long_keeps_the_newest_messages_or_those_next_to_one() {
        let sources = sample();
        let space = sources.trigger_space.as_ref().unwrap();
        let messages: Vec<MessageRecord> =
            space.messages.iter().map(|message| MessageRecord::clone(message)).collect();
        let lines = Lines::of(&sources.names, space.space.id, &space.member);
        let room = |messages: &[MessageRecord]| {
            messages.iter().map(|message| lines.entry(message).len() + DAY_BYTES).sum::<usize>()
        };
        let newest = Page::newest(&messages, &lines, room(&messages[3..]));
        assert_eq!(shown(&newest), [4, 5]);
        let first = Page::next_to(&messages, &lines, 0, room(&messages[..2]));
        assert_eq!(shown(&first), [1, 2]);
        assert_eq!(shown(&Page::next_to(&messages, &lines, 2, 0)), [3], "one message at least");
    }
}
