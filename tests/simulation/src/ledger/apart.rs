//! What a prompt shows of messages apart from its history.

use std::collections::BTreeMap;

use crate::ledger::{Line, model_request::DELETED};

/// The blocks of a prompt that show messages apart from its history.
#[derive(Clone, Debug, Default)]
pub struct Apart {
    /// Pinned messages. Those that only their numbers stand for are left out.
    pub pinned: Vec<Line>,
    /// Messages outside of the history to which others reply.
    pub parents: Vec<Line>,
    /// How many members reacted to each message with each emoji, as `REACTIONS` shows it.
    pub reactions: Vec<(u64, Reactions)>,
}

/// How many members reacted to a message with each emoji.
pub type Reactions = BTreeMap<String, usize>;

impl Apart {
    /// Reads the blocks of a prompt about a space.
    pub(crate) fn in_prompt(text: &str, space: &str) -> Self {
        let of_block = |title: &'static str| {
            let lines = text.lines().skip_while(move |line| *line != title).skip(1);
            lines.take_while(|line| line.starts_with(['#', '[']))
        };
        let reactions = text.lines().find_map(|line| line.strip_prefix("REACTIONS: "));
        let reactions = reactions.into_iter().flat_map(|line| line.split("; "));
        Self {
            pinned: of_block("PINNED:").filter_map(|line| read_line(line, space, false)).collect(),
            parents: of_block("REPLIED TO:")
                .filter_map(|line| read_line(line, space, true))
                .collect(),
            reactions: reactions.filter_map(read_reactions).collect(),
        }
    }
}

/// Reads a line with a day and perhaps a time: `#9 2026-02-10 14:01 You: "Shall I?"`.
fn read_line(line: &str, space: &str, has_time: bool) -> Option<Line> {
    let (number, rest) = line.strip_prefix('#')?.split_once(' ')?;
    let message = format!("{space}#{}", number.parse::<u64>().ok()?);
    if rest == DELETED {
        return Some(Line { message, content: DELETED.to_owned(), ..Line::default() });
    }
    let (_, rest) = rest.split_once(' ')?;
    let (time, rest) = if has_time { rest.split_once(' ')? } else { ("", rest) };
    let (sender, content) = Line::split_name(rest)?;
    Some(Line {
        message,
        own: sender == "You",
        time: time.to_owned(),
        sender: sender.to_owned(),
        content: content.to_owned(),
        is_apart: true,
        ..Line::default()
    })
}

/// Reads the reactions to one message: `#17 👍 Sara, Omar 🎉 4`.
fn read_reactions(text: &str) -> Option<(u64, Reactions)> {
    let (number, rest) = text.strip_prefix('#')?.split_once(' ')?;
    let mut reactions = Reactions::new();
    let mut emoji = "";
    for word in rest.split(' ') {
        if !word.is_ascii() {
            emoji = word;
            reactions.insert(emoji.to_owned(), 1);
        } else if let Some(count) = reactions.get_mut(emoji) {
            match word.parse::<usize>() {
                // A name may end with a number, and a number alone is no name.
                Ok(number) if rest.contains(&format!("{emoji} {number}")) => *count = number,
                _ if word.ends_with(',') => *count += 1,
                _ => {}
            }
        }
    }
    Some((number.parse().ok()?, reactions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_apart_from_the_history_are_read() {
        let text = "PINNED:\n\
            #12 2026-02-11 Omar: \"We ship.\"\n\
            … and #3; read_messages shows them\n\
            SPACE HISTORY \"Ops\":\n\
            #16 14:02 Omar: \"Yes.\"\n\
            REPLIED TO:\n\
            #9 2026-02-10 14:01 You: \"Shall I?\"\n\
            #10 [deleted]\n\
            REACTIONS: #17 👍 Person 0, Person 1 🎉 4; #12 ❤️ You\n\
            TRIGGER: message #16 from Omar (human), to all\n";
        let apart = Apart::in_prompt(text, "spc_1");
        let shown = |lines: &[Line]| {
            let lines = lines.iter();
            lines.map(|line| (line.message.clone(), line.content.clone())).collect::<Vec<_>>()
        };
        let pair = |message: &str, content: &str| (format!("spc_1#{message}"), content.to_owned());
        assert_eq!(shown(&apart.pinned), [pair("12", "\"We ship.\"")]);
        assert_eq!(shown(&apart.parents), [pair("9", "\"Shall I?\""), pair("10", DELETED)]);
        assert!(apart.parents[0].own && apart.parents[0].time == "14:01");
        let given = |some: &[(&str, usize)]| -> Reactions {
            some.iter().map(|(emoji, count)| ((*emoji).to_owned(), *count)).collect()
        };
        let expected = [(17, given(&[("👍", 2), ("🎉", 4)])), (12, given(&[("❤️", 1)]))];
        assert_eq!(apart.reactions, expected);
    }
}
