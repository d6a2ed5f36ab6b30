//! The content of a message, as its items store it.

use crate::messages::{Apart, MessageRecord, ToolCard, append::Content};

/// The content of a message, divided between its own item and `TEXT#`.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) more_chars: usize,
    pub(super) card: Option<ToolCard>,
    pub(super) apart: Apart,
}

impl Body {
    pub(super) fn of(content: &Content) -> Self {
        match content {
            Content::Text(text) => {
                let (text, more_chars, apart) = MessageRecord::split(text.as_str());
                Self { text, more_chars, card: None, apart }
            }
            Content::Files => {
                Self { text: String::new(), more_chars: 0, card: None, apart: Apart::default() }
            }
            Content::Card(card) => {
                let (card, apart) = card.split();
                Self { text: String::new(), more_chars: 0, card: Some(card), apart }
            }
        }
    }
}
