//! The partner of a person: the agent with which the person talked last.

use crate::{ids::EntityId, mentions};

/// A message before the one that is decided.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    /// Its sender.
    pub sender: EntityId,
    /// Its text.
    pub text: &'a str,
    /// The sender of the message that it answers: an agent's run was triggered by that message.
    pub answers: Option<EntityId>,
}

/// Finds the partner of the person `sender` among `agents`, who are the agents of the space with
/// their names. `newest_first` are the messages before the person's new one.
pub fn partner<'a>(
    sender: EntityId,
    sender_name: &str,
    agents: &[(EntityId, &str)],
    newest_first: impl IntoIterator<Item = Earlier<'a>>,
) -> Option<EntityId> {
    newest_first.into_iter().find_map(|message| {
        if message.sender == sender {
            let named = mentions::first(message.text, agents.iter().map(|(_, name)| *name))?;
            return Some(agents[named].0);
        }
        let is_member = agents.iter().any(|(id, _)| *id == message.sender);
        let is_for_sender =
            message.answers == Some(sender) || mentions::names_person(message.text, sender_name);
        (is_member && is_for_sender).then_some(message.sender)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    fn entity(number: u128) -> EntityId {
        EntityId::new(Time::from_millis(1), number)
    }

    fn message(sender: u128, text: &str, answers: Option<u128>) -> Earlier<'_> {
        Earlier { sender: entity(sender), text, answers: answers.map(entity) }
    }

    /// The partner of Ana, who is the person 1, after these messages, the oldest first. The agents
    /// are 3 (Bob) and 4 (Eve).
    fn after(messages: &[Earlier<'_>]) -> Option<EntityId> {
        let agents = [(entity(3), "Bob"), (entity(4), "Eve")];
        partner(entity(1), "Ana", &agents, messages.iter().rev().copied())
    }

    #[test]
    fn the_partner_is_the_agent_of_the_last_words_between_the_two() {
        let bob = Some(entity(3));
        let eve = Some(entity(4));
        let asked = message(1, "@bob @eve hi", None);
        let answered = message(4, "hello", Some(1));
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[asked]), bob, "the first one that she named");
        assert_eq!(after(&[asked, answered]), eve);
        assert_eq!(after(&[answered, message(1, "thanks", None)]), eve);
        assert_eq!(after(&[answered, message(1, "@all hi", None)]), eve, "all is nobody");
        assert_eq!(after(&[asked, message(4, "Well, Ana: no.", None)]), eve);
        assert_eq!(after(&[asked, message(4, "ana, Anas and Diana", None)]), bob);
    }

    #[test]
    fn others_and_agents_that_have_left_are_no_partners() {
        let eve = Some(entity(4));
        let answered = message(4, "hello", Some(1));
        for other in [
            message(2, "Ana, @bob knows", None),
            message(3, "here", Some(2)),
            message(9, "I was here, Ana", Some(1)),
        ] {
            assert_eq!(after(&[answered, other]), eve, "{other:?}");
            assert_eq!(after(&[other]), None, "{other:?}");
        }
    }
}
