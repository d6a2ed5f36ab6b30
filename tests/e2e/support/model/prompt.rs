//! Parses a prompt into its blocks, their lines, and the lines of the timeline.

use serde_json::{Deserializer, Value};

/// A prompt made of blocks. The first line of a block is not indented, starts with a name in
/// capitals, and has a colon.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    /// The lines before the first block.
    pub(crate) before: Vec<String>,
    blocks: Vec<(String, Vec<String>)>,
}

impl Prompt {
    pub(crate) fn read(text: &str) -> Self {
        let mut prompt = Self { before: Vec::new(), blocks: Vec::new() };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match name_of(line) {
                Some(name) => prompt.blocks.push((name.to_owned(), vec![line.to_owned()])),
                None => prompt
                    .blocks
                    .last_mut()
                    .map_or(&mut prompt.before, |(_, lines)| lines)
                    .push(line.to_owned()),
            }
        }
        prompt
    }

    /// Reads the result of a tool that has the form of a prompt.
    pub(crate) fn of_result(result: &Value) -> Self {
        Self::read(result.as_str().unwrap_or_else(|| panic!("not a text: {result}")))
    }

    /// The names of the blocks, in order.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.blocks.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The lines of a block, including its first line.
    pub(crate) fn block(&self, name: &str) -> &[String] {
        let found = self.blocks.iter().find(|(block, _)| block == name);
        &found.unwrap_or_else(|| panic!("no block {name} in {:#?}", self.blocks)).1
    }

    /// The text after `field: ` in a block.
    pub(crate) fn field(&self, block: &str, field: &str) -> Option<String> {
        let lines = &self.blocks.iter().find(|(name, _)| name == block)?.1;
        lines.iter().find_map(|line| line.strip_prefix(&format!("{field}: ")).map(str::to_owned))
    }

    /// The text of the message that triggered the run, as the prompt quotes it.
    pub(crate) fn message(&self) -> Option<String> {
        let (_, lines) = self.blocks.iter().find(|(name, _)| name == "TRIGGER")?;
        lines.first()?.starts_with("TRIGGER: message ").then(|| lines.get(1).cloned())?
    }

    /// The messages of the timeline. Panics at a line that is neither a message nor the note of
    /// one.
    pub(crate) fn timeline(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for line in &self.block("SPACE HISTORY")[1..] {
            let is_note = line.starts_with('[') && !line.starts_with("[NEW] ");
            if is_note {
                lines.last_mut().unwrap().note = Some(line.trim_matches(['[', ']']).to_owned());
            } else if !line.starts_with("… ") && !line.ends_with(" UTC") {
                lines.push(
                    Line::read(line).unwrap_or_else(|| panic!("not a line of a timeline: {line}")),
                );
            }
        }
        lines
    }
}

fn name_of(line: &str) -> Option<&str> {
    let end = line.find([':', '(', '"']).filter(|_| line.contains(':'))?;
    let name = line[..end].trim_end();
    let capitals = !name.is_empty()
        && name.chars().all(|char| char.is_ascii_uppercase() || char == ' ')
        && !name.starts_with(' ');
    capitals.then_some(name)
}

/// A message in the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// False for `[NEW]`.
    pub(crate) seen: bool,
    pub(crate) seq: u64,
    /// The time as the prompt shows it.
    pub(crate) at: String,
    /// The sender as the prompt shows it.
    pub(crate) sender: String,
    pub(crate) text: String,
    /// Whether the message triggered the run.
    pub(crate) trigger: bool,
    /// The text in brackets below the message.
    pub(crate) note: Option<String>,
}

impl Line {
    fn read(line: &str) -> Option<Self> {
        let unmarked = line.strip_prefix("[NEW] ");
        let (seq, rest) = unmarked.unwrap_or(line).strip_prefix('#')?.split_once(' ')?;
        let (at, rest) = rest.split_once(' ')?;
        // A name in quotes may look like anything, including the end of the sender.
        let mut name = Deserializer::from_str(rest).into_iter::<Value>();
        let name_end =
            if rest.starts_with('"') && name.next()?.is_ok() { name.byte_offset() } else { 0 };
        let sender_end = name_end + rest[name_end..].find(": ")?;
        let sender = &rest[..sender_end];
        let rest = &rest[sender_end + 2..];
        let mut json = Deserializer::from_str(rest).into_iter::<Value>();
        let text = json.next()?.ok()?.as_str()?.to_owned();
        let rest = &rest[json.byte_offset()..];
        let (rest, trigger) =
            rest.strip_suffix("  ← TRIGGER").map_or((rest, false), |rest| (rest, true));
        let cut = rest.trim_start().starts_with("… (") && rest.ends_with(" shows all)");
        if !rest.is_empty() && !cut {
            return None;
        }
        Some(Self {
            seen: unmarked.is_none(),
            seq: seq.parse().ok()?,
            at: at.into(),
            sender: sender.into(),
            text,
            trigger,
            note: None,
        })
    }

    /// The line in the short form of the tests: `SEEN Husam: text`, with ` ← TRIGGER` at the end if
    /// the message triggered the run.
    pub(crate) fn short(&self) -> String {
        let mark = if self.seen { "SEEN" } else { "NEW" };
        let trigger = if self.trigger { " ← TRIGGER" } else { "" };
        format!("{mark} {}: {}{trigger}", self.sender, self.text)
    }
}

mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_parsed_into_blocks_and_timeline_lines() {
        let text = r#"SPACE HISTORY "Team":
… 1,204 earlier messages; read_messages({"before":1205}) shows them
2026-02-18 UTC
#1205 14:51 You: "On \"it\"."
[sent because Husam wrote "Report" in "Team"; used fetch]
[NEW] #1206 15:06 "Hu\nsam (x): ": "@Ada: (well)"  ← TRIGGER
[NEW] #1207 15:06 Husam: "long" … (CUT)
TRIGGER: message #1206 from Husam (human), names you
"@Ada: (well)"
note: "soon"
NOW: 2026-02-18T15:07:00Z (Wednesday)
"#;
        let cut = "1,234 more characters; read_messages shows all";
        let prompt = Prompt::read(&text.replace("CUT", cut));
        assert_eq!(prompt.names(), ["SPACE HISTORY", "TRIGGER", "NOW"]);
        assert_eq!(prompt.field("TRIGGER", "note").as_deref(), Some("\"soon\""));
        assert_eq!(prompt.message().as_deref(), Some("\"@Ada: (well)\""));
        let lines = prompt.timeline();
        let short: Vec<String> = lines.iter().map(Line::short).collect();
        assert_eq!(
            short,
            [
                "SEEN You: On \"it\".",
                "NEW \"Hu\\nsam (x): \": @Ada: (well) ← TRIGGER",
                "NEW Husam: long"
            ]
        );
        assert_eq!(
            lines[0].note.as_deref(),
            Some("sent because Husam wrote \"Report\" in \"Team\"; used fetch")
        );
        assert_eq!((lines[0].seq, lines[0].at.as_str()), (1205, "14:51"));
    }
}
