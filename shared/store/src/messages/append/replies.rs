//! What follows for a decision from the message to which a new one replies.

use smartspace_domain::{dispatch::IncomingMessage, entities::EntityType::Agent, ids::EntityId};

use crate::{Result, messages::append::space_as_read::SpaceAsRead};

impl SpaceAsRead {
    /// Fails unless the parent is a message of the space, though it may have expired.
    pub(super) fn check_parent(&self) -> Result<()> {
        self.parent.as_ref().map_or(Ok(()), |parent| parent.check(self.head.seq))
    }

    /// The message with what a decision has to know of its parent. A reply to the sender's own
    /// message, or to one of somebody who has left, is for nobody in particular.
    pub(super) fn with_parent<'a>(&self, message: IncomingMessage<'a>) -> IncomingMessage<'a> {
        let Some(parent) = &self.parent else { return message };
        let sender = parent.sender().map(|sender| sender.id);
        let is_other_member =
            |id: &EntityId| *id != message.sender && self.roster.member(*id).is_some();
        IncomingMessage {
            reply_to: sender.filter(is_other_member),
            replies_to_expired: sender.is_none(),
            ..message
        }
    }

    /// Whether a message of `sender` is for one agent, or for nobody, because of its parent.
    pub(super) fn is_addressed_by_reply(&self, sender: EntityId) -> bool {
        self.parent.as_ref().is_some_and(|parent| match parent.sender() {
            Some(of_parent) => of_parent.id != sender && self.can_be_triggered(of_parent.id),
            None => true,
        })
    }

    /// The agent to whose message this one replies, if it has left the space. It gets no run, and
    /// the decision says so as it does for a paused agent.
    pub(super) fn left_agent(&self, message: &IncomingMessage<'_>) -> Option<EntityId> {
        let parent = self.parent.as_ref()?.sender()?;
        let is_gone = parent.kind == Agent && !self.can_be_triggered(parent.id);
        (is_gone && parent.id != message.sender).then_some(parent.id)
    }
}
