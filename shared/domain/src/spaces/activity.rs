//! What a list of spaces shows of their messages: the last one, and how many the reader has not
//! read. Tool cards do not count.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Time, identity::Sender, spaces::Space};

/// The most characters of an excerpt.
pub const EXCERPT_CHARS: usize = 80;

/// The last message of a space, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastMessage {
    /// The message's position in the space.
    pub seq: u64,
    /// When it was posted.
    pub at: Time,
    /// Who posted it.
    pub sender: Sender,
    /// The first 80 characters of its text, or the name of the tool that its card shows. Null if
    /// it is deleted.
    #[schema(required)]
    pub excerpt: Option<String>,
    /// True if it is deleted. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// The last message of a space, for a reader that gets it. A space may have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownLast(pub Option<LastMessage>);

/// How far the operator has looked at a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Looked {
    /// The `seq` of the last message that the operator has seen.
    pub seq: u64,
    /// How many tool cards there are up to it.
    pub cards: u64,
}

/// How far the operator has looked at a space, for the operator. It may never have looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownLooked(pub Option<Looked>);

/// A caller's read position in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnPosition {
    /// The `seq` of the last message that the caller has read.
    pub read_seq: u64,
    /// How many tool cards there are up to it.
    #[serde(default)]
    pub read_cards: u64,
    /// The number of messages after it, without tool cards.
    pub unread: u64,
}

impl OwnPosition {
    pub(super) fn of(space: &Space, read_seq: u64, read_cards: u64) -> Self {
        let messages = space.seq.saturating_sub(read_seq);
        let cards = space.cards.saturating_sub(read_cards);
        Self { read_seq, read_cards, unread: messages.saturating_sub(cards) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{callers::Caller, ids::SpaceId, spaces::SpaceSettings};

    fn space(seq: u64, cards: u64) -> Space {
        let settings: SpaceSettings = serde_json::from_value(json!({"name": "Team"})).unwrap();
        let space = Space::of(SpaceId::new(Time::default(), 1), settings, Time::default());
        Space { seq, cards, ..space }
    }

    #[test]
    fn cards_are_not_unread_and_nothing_is_below_zero() {
        let unread = |seq, cards, read_seq, read_cards| {
            OwnPosition::of(&space(seq, cards), read_seq, read_cards).unread
        };
        assert_eq!(unread(20, 12, 5, 3), 6);
        assert_eq!(unread(20, 12, 20, 12), 0);
        assert_eq!(unread(5, 5, 0, 0), 0);
        // A message was posted between the reads.
        assert_eq!(unread(20, 12, 21, 12), 0);
        assert_eq!(unread(20, 12, 19, 3), 0);
    }

    #[test]
    fn events_have_neither_a_last_message_nor_a_mark() {
        let sent = serde_json::to_value(space(3, 1)).unwrap();
        assert_eq!(sent["cards"], 1);
        assert_eq!([sent.get("lastMessage"), sent.get("looked")], [None, None]);
        let shown = Space {
            last_message: Some(ShownLast(None)),
            looked: Some(ShownLooked(None)),
            ..space(0, 0)
        };
        let read = serde_json::to_value(shown.clone().seen_by(Caller::Operator, 0)).unwrap();
        assert_eq!([&read["lastMessage"], &read["looked"]], [&json!(null), &json!(null)]);
        assert_eq!(serde_json::from_value::<Space>(read).unwrap(), shown);
    }
}
