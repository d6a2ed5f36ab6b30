//! The people who learn on their own connections that a message names them.

use crate::{events::EventKind, ids::EntityId, mentions};

impl EventKind {
    /// Whether the event may be a message for some person's list of mentions. Only the roster says
    /// for certain, but a message that names agents alone is never one.
    pub fn may_mention_people(&self) -> bool {
        let Self::MessageCreated { message } = self else { return false };
        let is_agent = |id| {
            let mut dispatch = message.dispatch.iter().flatten();
            id == message.sender.id || dispatch.any(|entry| entry.agent_id == id)
        };
        let named = message.mentions.iter().filter_map(|mention| mention.entity_id);
        let reply_to = message.reply_to.and_then(|parent| parent.sender_id);
        named.chain(reply_to).any(|id| !is_agent(id))
    }

    /// What the people get whom a new message mentions or to whom it replies.
    pub fn mention_notices(
        &self,
        is_person: impl Fn(EntityId) -> bool,
    ) -> Vec<(EntityId, EventKind)> {
        let Self::MessageCreated { message } = self else { return Vec::new() };
        let reply_to = message.reply_to.and_then(|parent| parent.sender_id);
        let people = mentions::people(&message.mentions, reply_to, message.sender.id, is_person);
        let notice = |why| Self::Mention {
            message_id: message.id,
            seq: message.seq,
            why,
            sender: message.sender.clone(),
        };
        people.into_iter().map(|(person, why)| (person, notice(why))).collect()
    }
}
