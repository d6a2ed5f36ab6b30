//! Whether a message is for an agent: by its mentions, the message to which it replies, and the
//! space's policy.

use crate::{
    dispatch::{Candidate, IncomingMessage, Reason, Source},
    identity::EntityType,
    ids::EntityId,
    mentions::Mention,
    spaces::{SpaceSettings, TriggerPolicy},
};

/// Whom a message addresses.
#[derive(Clone, Copy, Debug)]
pub struct Addressing<'a> {
    mentions: &'a [Mention],
    /// It mentions some agent, or replies to one.
    names_agent: bool,
    /// The member to whose message it replies.
    reply_to: Option<EntityId>,
    /// It replies to a message that has expired.
    replies_to_expired: bool,
    /// The space has exactly two members.
    is_pair: bool,
    /// The agent with which its sender, a person, talked last.
    partner: Option<EntityId>,
}

impl<'a> Addressing<'a> {
    /// Whom a message with these mentions addresses, in a space with these agents and so many
    /// members.
    pub fn of(
        mentions: &'a [Mention],
        mut agents: impl Iterator<Item = EntityId>,
        members: usize,
    ) -> Self {
        let names_agent = mentions.iter().any(|mention| mention.all)
            || (!mentions.is_empty() && agents.any(|agent| names(mentions, agent)));
        Self {
            mentions,
            names_agent,
            reply_to: None,
            replies_to_expired: false,
            is_pair: members == 2,
            partner: None,
        }
    }

    /// Whom a message addresses among these members.
    pub(super) fn of_message(message: &IncomingMessage<'a>, members: &[Candidate<'_>]) -> Self {
        let agents = members.iter().filter(|member| member.wake_limits.is_some());
        let by_name = Self::of(message.mentions, agents.map(|agent| agent.id), members.len());
        Self {
            names_agent: by_name.names_agent || message.is_addressed_by_reply(members),
            reply_to: message.reply_to,
            replies_to_expired: message.replies_to_expired,
            partner: message.partner,
            ..by_name
        }
    }

    /// Whether it addresses no agent, neither by name nor by being one of two.
    pub fn is_open(&self) -> bool {
        !self.is_pair && !self.names_agent
    }

    /// Why the space's policy selects the agent. `Router`: if the router chooses it.
    ///
    /// # Errors
    /// Why it does not.
    pub(super) fn source(
        self,
        agent: EntityId,
        space: &SpaceSettings,
        sender_kind: EntityType,
    ) -> Result<Source, Reason> {
        let by_name = if names(self.mentions, agent) {
            Some(Source::Mention)
        } else {
            (self.reply_to == Some(agent)).then_some(Source::Reply)
        };
        // Nobody knows for whom it is.
        if self.replies_to_expired && by_name.is_none() {
            return Err(Reason::Policy);
        }
        let by_mention = by_name.or(self.is_pair.then_some(Source::Auto));
        let is_for_others = self.names_agent && by_name.is_none();
        let is_partner = self.partner == Some(agent);
        let selected = match space.trigger_policy {
            TriggerPolicy::All => by_mention.or(Some(Source::Broadcast)),
            TriggerPolicy::Mention => by_mention,
            TriggerPolicy::Router if is_for_others => None,
            TriggerPolicy::Router => by_mention.or(Some(Source::Router)),
            TriggerPolicy::Partner if is_for_others => None,
            TriggerPolicy::Partner => by_mention.or(is_partner.then_some(Source::Partner)),
            TriggerPolicy::Admin if space.admin_agent_id.is_none() => {
                return by_mention.ok_or(Reason::NoAdmin);
            }
            TriggerPolicy::Admin if sender_kind == EntityType::Human => {
                (space.admin_agent_id == Some(agent)).then_some(Source::Admin)
            }
            TriggerPolicy::Admin => by_name,
        };
        selected.ok_or(Reason::Policy)
    }
}

fn names(mentions: &[Mention], agent: EntityId) -> bool {
    mentions.iter().any(|mention| mention.all || mention.entity_id == Some(agent))
}
