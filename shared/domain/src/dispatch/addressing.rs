//! Whether a message is for an agent: by its mentions and the space's policy.

use crate::{
    dispatch::{Reason, Source},
    identity::EntityType,
    ids::EntityId,
    mentions::Mentions,
    spaces::{SpaceSettings, TriggerPolicy},
};

/// How a message addresses an agent.
#[derive(Clone, Copy)]
pub(super) struct Addressing {
    /// It mentions this agent, or `@all`.
    pub(super) is_mentioned: bool,
    /// It mentions some agent.
    pub(super) mentions_anyone: bool,
    /// Its sender is a person who talked with this agent last.
    pub(super) is_partner: bool,
    /// The space has exactly two members.
    pub(super) is_pair: bool,
}

impl Addressing {
    /// How a message addresses the agent with this index among those that `mentions` names, in a
    /// space of so many members.
    pub(super) fn of(mentions: &Mentions, index: usize, is_partner: bool, members: usize) -> Self {
        Self {
            is_mentioned: mentions.includes(index),
            mentions_anyone: mentions.all || !mentions.named.is_empty(),
            is_partner,
            is_pair: members == 2,
        }
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
        let by_mention = if self.is_mentioned {
            Some(Source::Mention)
        } else {
            self.is_pair.then_some(Source::Auto)
        };
        let selected = match space.trigger_policy {
            TriggerPolicy::All => by_mention.or(Some(Source::Broadcast)),
            TriggerPolicy::Mention => by_mention,
            TriggerPolicy::Router if self.mentions_anyone && !self.is_mentioned => None,
            TriggerPolicy::Router => by_mention.or(Some(Source::Router)),
            TriggerPolicy::Partner if self.mentions_anyone && !self.is_mentioned => None,
            TriggerPolicy::Partner => by_mention.or(self.is_partner.then_some(Source::Partner)),
            TriggerPolicy::Admin if space.admin_agent_id.is_none() => {
                return by_mention.ok_or(Reason::NoAdmin);
            }
            TriggerPolicy::Admin if sender_kind == EntityType::Human => {
                (space.admin_agent_id == Some(agent)).then_some(Source::Admin)
            }
            TriggerPolicy::Admin => self.is_mentioned.then_some(Source::Mention),
        };
        selected.ok_or(Reason::Policy)
    }
}
