//! The people who learn that a message names them or replies to them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ids::EntityId, limits::PEOPLE_MENTIONED, mentions::Mention, stored::tolerant};

/// Why a message is in a person's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum MentionWhy {
    /// It mentions the person.
    Mention,
    /// It replies to the person.
    Reply,
}

tolerant!(MentionWhy);

/// The people who learn of a message of `sender`: the first 20 whom it mentions, and the one to
/// whose message it replies. `@all` is for agents.
pub fn people(
    mentions: &[Mention],
    reply_to: Option<EntityId>,
    sender: EntityId,
    is_person: impl Fn(EntityId) -> bool,
) -> Vec<(EntityId, MentionWhy)> {
    let mut people: Vec<(EntityId, MentionWhy)> = Vec::new();
    let is_other = |id: EntityId| id != sender && is_person(id);
    for id in mentions.iter().filter_map(|mention| mention.entity_id) {
        let is_known = people.iter().any(|(known, _)| *known == id);
        if people.len() < PEOPLE_MENTIONED && !is_known && is_other(id) {
            people.push((id, MentionWhy::Mention));
        }
    }
    let parent = reply_to.filter(|id| people.iter().all(|(known, _)| known != id));
    people.extend(parent.filter(|id| is_other(*id)).map(|id| (id, MentionWhy::Reply)));
    people
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    fn entity(number: u128) -> EntityId {
        EntityId::new(Time::from_millis(1), number)
    }

    #[test]
    fn people_learn_of_a_message_once_and_its_sender_and_agents_do_not() {
        use MentionWhy::{Mention as Named, Reply};
        let mention =
            |number| Mention { entity_id: Some(entity(number)), all: false, start: 0, end: 4 };
        let all = Mention { entity_id: None, all: true, start: 0, end: 4 };
        let of = |numbers: &[u128], reply_to: Option<u128>| {
            let mut mentions: Vec<_> = numbers.iter().copied().map(mention).collect();
            mentions.push(all);
            let is_person = |id| id != entity(9);
            people(&mentions, reply_to.map(entity), entity(1), is_person)
        };
        assert_eq!(of(&[], None), []);
        assert_eq!(of(&[2, 9, 2, 1], None), [(entity(2), Named)]);
        assert_eq!(of(&[2], Some(3)), [(entity(2), Named), (entity(3), Reply)]);
        assert_eq!(of(&[2], Some(2)), [(entity(2), Named)]);
        assert_eq!(of(&[], Some(1)), []);
        assert_eq!(of(&[], Some(9)), []);
        let many: Vec<u128> = (10..40).collect();
        let found = of(&many, Some(35));
        assert_eq!((found.len(), found[20]), (21, (entity(35), Reply)));
    }
}
