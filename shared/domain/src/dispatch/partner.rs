//! The partner of a person: the agent with which the person talked last.

use crate::{
    ids::EntityId,
    mentions::{self, Mention},
};

/// A message before the one that is decided.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    /// Its sender.
    pub sender: EntityId,
    /// Its text.
    pub text: &'a str,
    /// The mentions in the text.
    pub mentions: &'a [Mention],
    /// The sender of the message that it answers: an agent's run was triggered by that message.
    pub answers: Option<EntityId>,
    /// The sender of the message to which it replies.
    pub reply_to: Option<EntityId>,
}

/// Finds the partner of the person `sender` among `agents`, who are the agents of the space.
/// `newest_first` are the messages before the person's new one.
pub fn partner<'a>(
    sender: EntityId,
    sender_name: &str,
    agents: &[EntityId],
    newest_first: impl IntoIterator<Item = Earlier<'a>>,
) -> Option<EntityId> {
    let is_member = |agent: &EntityId| agents.contains(agent);
    newest_first.into_iter().find_map(|message| {
        if message.sender == sender {
            let mut named = message.mentions.iter().filter_map(|mention| mention.entity_id);
            return named.find(is_member).or(message.reply_to.filter(is_member));
        }
        let is_for_sender = [message.answers, message.reply_to].contains(&Some(sender))
            || mentions::names_person(message.text, sender_name);
        Some(message.sender).filter(is_member).filter(|_| is_for_sender)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    fn entity(number: u128) -> EntityId {
        EntityId::new(Time::from_millis(1), number)
    }

    /// A message with the mentions of the agents in its text, in their order.
    fn message<'a>(
        sender: u128,
        text: &'a str,
        mentions: &'a [Mention],
        answers: Option<u128>,
    ) -> Earlier<'a> {
        let answers = answers.map(entity);
        Earlier { sender: entity(sender), text, mentions, answers, reply_to: None }
    }

    fn reply<'a>(
        sender: u128,
        text: &'a str,
        mentions: &'a [Mention],
        reply_to: u128,
    ) -> Earlier<'a> {
        Earlier { reply_to: Some(entity(reply_to)), ..message(sender, text, mentions, None) }
    }

    fn found(text: &str) -> Vec<Mention> {
        mentions::find(text, AGENTS.map(|(number, name)| (entity(number), name)))
    }

    const AGENTS: [(u128, &str); 2] = [(3, "Bob"), (4, "Eve")];

    /// The partner of Ana, who is the person 1, after these messages, the oldest first. The agents
    /// are 3 (Bob) and 4 (Eve).
    fn after(messages: &[Earlier<'_>]) -> Option<EntityId> {
        let agents = AGENTS.map(|(number, _)| entity(number));
        partner(entity(1), "Ana", &agents, messages.iter().rev().copied())
    }

    #[test]
    fn the_partner_is_the_agent_of_the_last_words_between_the_two() {
        let bob = Some(entity(3));
        let eve = Some(entity(4));
        let both = found("@bob @eve hi");
        let all = found("@all hi");
        let asked = message(1, "@bob @eve hi", &both, None);
        let answered = message(4, "hello", &[], Some(1));
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[asked]), bob, "the first one that she named");
        assert_eq!(after(&[asked, answered]), eve);
        assert_eq!(after(&[answered, message(1, "thanks", &[], None)]), eve);
        assert_eq!(after(&[answered, message(1, "@all hi", &all, None)]), eve, "all is nobody");
        assert_eq!(after(&[asked, message(4, "Well, Ana: no.", &[], None)]), eve);
        assert_eq!(after(&[asked, message(4, "ana, Anas and Diana", &[], None)]), bob);
    }

    #[test]
    fn a_reply_counts_as_naming_the_one_to_whom_it_replies() {
        let bob = Some(entity(3));
        let eve = Some(entity(4));
        let answered = message(4, "hello", &[], Some(1));
        let names_eve = found("@eve thanks");
        assert_eq!(after(&[answered, reply(1, "thanks", &[], 3)]), bob);
        assert_eq!(
            after(&[answered, reply(1, "@eve thanks", &names_eve, 3)]),
            eve,
            "a mention comes first"
        );
        assert_eq!(after(&[answered, reply(3, "yes", &[], 1)]), bob);
        assert_eq!(after(&[answered, reply(3, "yes", &[], 2)]), eve);
        assert_eq!(after(&[answered, reply(1, "thanks", &[], 9)]), eve, "it has left");
        assert_eq!(after(&[answered, reply(1, "so", &[], 1)]), eve);
    }

    #[test]
    fn others_and_agents_that_have_left_are_no_partners() {
        let eve = Some(entity(4));
        let answered = message(4, "hello", &[], Some(1));
        let named = found("Ana, @bob knows");
        for other in [
            message(2, "Ana, @bob knows", &named, None),
            message(3, "here", &[], Some(2)),
            message(9, "I was here, Ana", &[], Some(1)),
        ] {
            assert_eq!(after(&[answered, other]), eve, "{other:?}");
            assert_eq!(after(&[other]), None, "{other:?}");
        }
    }
}
