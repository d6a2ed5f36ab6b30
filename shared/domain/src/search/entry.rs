//! What is searched of one message.

use std::{fmt, ops::BitOr, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    Time,
    attachments::FilePart,
    ids::EntityId,
    mentions::code::in_code,
    messages::{Message, Part, ToolPart},
    steps::CallStatus,
};

/// How much of a card is searched, in characters.
const CARD_CHARS: usize = 4_000;

/// What a message has, as the filter `has` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Has {
    /// A file, pictures included.
    File,
    /// A picture.
    Image,
    /// A link in its text.
    Link,
    /// Code in its text.
    Code,
    /// A tool call.
    Card,
    /// A message that it replies to.
    Reply,
}

impl Has {
    /// All of them, in the order of the reference.
    pub const ALL: [Self; 6] =
        [Self::File, Self::Image, Self::Link, Self::Code, Self::Card, Self::Reply];

    /// The name, as requests write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Image => "image",
            Self::Link => "link",
            Self::Code => "code",
            Self::Card => "card",
            Self::Reply => "reply",
        }
    }
}

impl FromStr for Has {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|has| has.as_str().eq_ignore_ascii_case(text)).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            let got: String = text.chars().take(64).collect();
            format!("expected one of {names}, got {got:?}")
        })
    }
}

impl fmt::Display for Has {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// All that a message has, one bit each. Stored in blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HasFlags(pub(super) u8);

impl HasFlags {
    /// Whether it has all of `others`.
    pub(super) fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

impl From<Has> for HasFlags {
    fn from(has: Has) -> Self {
        Self(1 << has as u8)
    }
}

impl BitOr for HasFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Has> for HasFlags {
    fn from_iter<I: IntoIterator<Item = Has>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), |flags, has| flags | has.into())
    }
}

/// What is searched of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The message's position in its space.
    pub seq: u64,
    /// When the message was posted.
    pub at: Time,
    /// The message's sender.
    pub sender: EntityId,
    /// Whether its card waits for a result. A block does not hold its words, because they change
    /// without an edit: see [`Block::unsettled`](super::Block::unsettled).
    pub unsettled: bool,
    pub(super) has: HasFlags,
    /// The texts in which words are searched: the message's text, its card, the names of its files.
    pub(super) texts: Vec<String>,
}

impl Entry {
    /// What is searched of a whole message, with the parts that are stored apart from it. `None` if
    /// the message is deleted.
    pub fn of(message: &Message) -> Option<Self> {
        if message.deleted.is_some() {
            return None;
        }
        let text = message.text();
        let mut has = Vec::new();
        has.extend(message.reply_to.is_some().then_some(Has::Reply));
        has.extend(has_link(text).then_some(Has::Link));
        has.extend(has_code(text).then_some(Has::Code));
        let mut texts = vec![text.to_owned()];
        let mut unsettled = false;
        for part in &message.parts {
            match part {
                Part::Text { .. } => {}
                // A deleted file has neither a name nor bytes that anybody finds.
                Part::File(file) if file.deleted => {}
                Part::Tool(tool) => {
                    has.push(Has::Card);
                    unsettled |= tool.status == CallStatus::Pending;
                    texts.push(card_text(tool));
                }
                Part::File(file) => {
                    has.push(Has::File);
                    has.extend(is_image(file).then_some(Has::Image));
                    texts.push(file.name.clone());
                }
            }
        }
        texts.retain(|text| !text.is_empty());
        Some(Self {
            seq: message.seq,
            at: message.created_at,
            sender: message.sender.id,
            unsettled,
            has: has.into_iter().collect(),
            texts,
        })
    }
}

fn is_image(file: &FilePart) -> bool {
    file.content_type.starts_with("image/")
}

fn has_link(text: &str) -> bool {
    ["http://", "https://", "www."].iter().any(|start| {
        let mut places = text.match_indices(start);
        places.any(|(at, found)| {
            let rest = &text[at + found.len()..];
            rest.starts_with(|char: char| char.is_alphanumeric() || char == '[')
        })
    })
}

fn has_code(text: &str) -> bool {
    // Without a mark there is no code, and most texts have none.
    text.contains(['`', '~']) && in_code(text).contains(&true)
}

/// The searched part of a card: the name of its tool, its question and its answer.
fn card_text(tool: &ToolPart) -> String {
    let mut text = CardText { text: tool.name.clone(), left: CARD_CHARS };
    text.add(&tool.input);
    if let Some(output) = &tool.output {
        text.add(output);
    }
    text.text
}

/// The texts of a card, as far as they are searched.
struct CardText {
    text: String,
    /// How many more characters are searched.
    left: usize,
}

impl CardText {
    /// Adds the texts and numbers of a value. The names of its fields are not what people said.
    fn add(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.add_text(&number.to_string()),
            Value::String(text) => self.add_text(text),
            Value::Array(values) => values.iter().for_each(|value| self.add(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.add(value)),
        }
    }

    fn add_text(&mut self, text: &str) {
        if self.left == 0 || text.is_empty() {
            return;
        }
        self.text.push('\n');
        for char in text.chars().take(self.left) {
            self.text.push(char);
            self.left -= 1;
        }
    }
}
