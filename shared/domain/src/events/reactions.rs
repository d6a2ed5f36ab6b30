//! Reactions, as the event `reactions` carries them.

use serde::{Deserialize, Serialize};

use crate::{
    ids::MessageId,
    messages::{Message, Reaction},
};

/// All reactions to a message, after they changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageReactions {
    /// The message's id.
    pub message_id: MessageId,
    /// The message's position in the space.
    pub seq: u64,
    /// Its reactions, in the order of their first ones. Empty after the last one was taken back.
    pub reactions: Vec<Reaction>,
    /// Their revision. Of two states the higher one is newer.
    pub reactions_rev: u64,
}

impl MessageReactions {
    /// The reactions to a message. `None` if nobody ever reacted to it.
    pub fn of(message: Message) -> Option<Self> {
        let Message { id: message_id, seq, reactions, reactions_rev, .. } = message;
        Some(Self { message_id, seq, reactions, reactions_rev: reactions_rev? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        Time,
        events::{Event, EventKind},
        ids::{EntityId, SpaceId},
        limits,
    };

    fn item(seq: u64, emoji: usize, members: u128) -> MessageReactions {
        let at = Time::from_millis(1);
        let entity_ids: Vec<_> = (0..members).map(|it| EntityId::new(at, it)).collect();
        let one = Reaction { emoji: "👍".into(), count: 50, entity_ids };
        MessageReactions {
            message_id: MessageId::new(at, u128::from(seq)),
            seq,
            reactions: vec![one; emoji],
            reactions_rev: 3,
        }
    }

    fn frame(items: Vec<MessageReactions>) -> String {
        let space_id = SpaceId::new(Time::from_millis(1), 9);
        let what = EventKind::Reactions { items };
        Event { space_id, at: Time::from_millis(1), what }.to_frame()
    }

    #[test]
    fn a_frame_has_the_reactions_of_messages() {
        let one = item(7, 1, 1);
        let shown: serde_json::Value = serde_json::from_str(&frame(vec![one.clone()])).unwrap();
        let expected = json!({
            "type": "reactions",
            "spaceId": SpaceId::new(Time::from_millis(1), 9),
            "at": "1970-01-01T00:00:00.001Z",
            "items": [{
                "messageId": one.message_id, "seq": 7, "reactionsRev": 3,
                "reactions": [
                    {"emoji": "👍", "count": 50, "entityIds": one.reactions[0].entity_ids},
                ],
            }],
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_message_with_all_reactions_fits_a_frame() {
        let frame = frame(vec![item(7, limits::EMOJI_OF_MESSAGE, 50)]);
        assert!(frame.len() <= limits::FRAME_BYTES, "{}", frame.len());
        let Event { what: EventKind::Reactions { items }, .. } =
            serde_json::from_str(&frame).unwrap()
        else {
            panic!("{frame}")
        };
        assert_eq!(items[0].reactions.len(), limits::EMOJI_OF_MESSAGE);
        let shown = items[0].reactions.iter().map(|it| (it.count, it.entity_ids.len() >= 10));
        assert!(shown.clone().all(|it| it == (50, true)), "{:?}", shown.collect::<Vec<_>>());
    }
}
