//! Read positions, as the event `space.read` carries them.

use serde::{Deserialize, Serialize};

use super::EventKind;
use crate::ids::EntityId;

/// How far a member has read a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadPosition {
    /// The member.
    pub entity_id: EntityId,
    /// The last message that it has read.
    pub seq: u64,
}

impl EventKind {
    /// The event of these positions, of which there is at least one. A single one is not listed.
    pub fn read(first: ReadPosition, others: &[ReadPosition]) -> Self {
        let reads = if others.is_empty() {
            Vec::new()
        } else {
            std::iter::once(&first).chain(others).copied().collect()
        };
        Self::SpaceRead { entity_id: first.entity_id, seq: first.seq, reads, cards: None }
    }

    /// The event of a position for the member's own connections.
    pub fn own_read(read: ReadPosition, cards: Option<u64>) -> Self {
        let ReadPosition { entity_id, seq } = read;
        Self::SpaceRead { entity_id, seq, reads: Vec::new(), cards }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Time, events::Event, ids::SpaceId};

    #[test]
    fn one_position_has_the_form_it_always_had_and_several_are_listed() {
        let read = |number: u128| ReadPosition {
            entity_id: EntityId::new(Time::from_millis(1), number),
            seq: number as u64,
        };
        let space_id = SpaceId::new(Time::from_millis(1), 9);
        let frame = |first, others: &[_]| {
            let what = EventKind::read(first, others);
            let event = Event { space_id, at: Time::from_millis(1), what };
            serde_json::from_str::<serde_json::Value>(&event.to_frame()).unwrap()
        };
        let one = frame(read(1), &[]);
        let expected = json!({
            "type": "space.read", "spaceId": space_id, "at": "1970-01-01T00:00:00.001Z",
            "entityId": read(1).entity_id, "seq": 1,
        });
        assert_eq!(one, expected);
        let two = frame(read(1), &[read(2)]);
        assert_eq!((&two["entityId"], &two["seq"]), (&one["entityId"], &one["seq"]));
        assert_eq!(two["reads"], json!([read(1), read(2)]));
    }
}
