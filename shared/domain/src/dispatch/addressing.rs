//! Whether a message is for an agent: by its mentions and the space's policy.

use crate::{
    dispatch::Source,
    identity::EntityType,
    ids::EntityId,
    spaces::{SpaceSettings, TriggerPolicy},
};

/// How a message addresses an agent.
#[derive(Clone, Copy)]
pub(super) struct Addressing {
    /// It mentions this agent, or `@all`.
    pub(super) is_mentioned: bool,
    /// It mentions some agent.
    pub(super) mentions_anyone: bool,
    /// The space has exactly two members.
    pub(super) is_pair: bool,
}

impl Addressing {
    /// Whether the space's policy selects the agent.
    pub(super) fn selects(
        self,
        agent: EntityId,
        space: &SpaceSettings,
        sender_kind: EntityType,
    ) -> bool {
        match space.trigger_policy {
            TriggerPolicy::All => true,
            TriggerPolicy::Mention => self.is_mentioned || self.is_pair,
            TriggerPolicy::Router => self.is_mentioned || !self.mentions_anyone,
            TriggerPolicy::Admin if sender_kind == EntityType::Human => {
                space.admin_agent_id == Some(agent)
            }
            TriggerPolicy::Admin => self.is_mentioned,
        }
    }

    pub(super) fn source(self) -> Source {
        if self.is_mentioned {
            Source::Mention
        } else if self.is_pair {
            Source::Auto
        } else {
            Source::Broadcast
        }
    }
}
