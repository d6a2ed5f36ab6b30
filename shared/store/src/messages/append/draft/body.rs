//! The content of a message, as its items store it.

use crate::{
    messages::append::Content,
    shared::message::{MessageRecord, Overflow, ToolCard},
};

/// The content of a message, divided between its own item and `TEXT#`.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) more_chars: usize,
    pub(super) card: Option<ToolCard>,
    pub(super) overflow: Overflow,
}

impl Body {
    pub(super) fn of(content: &Content) -> Self {
        match content {
            Content::Text(text) => {
                let (text, more_chars, overflow) = MessageRecord::split(text.as_str());
                Self { text, more_chars, card: None, overflow }
            }
            Content::Files => Self {
                text: String::new(),
                more_chars: 0,
                card: None,
                overflow: Overflow::default(),
            },
            Content::Card(card) => {
                let (card, overflow) = card.split();
                Self { text: String::new(), more_chars: 0, card: Some(card), overflow }
            }
        }
    }
}
