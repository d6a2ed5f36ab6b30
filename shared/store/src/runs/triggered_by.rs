//! The causes of runs.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    dispatch::Source,
    ids::{ChainId, DeliveryId, MessageId, PlanId, SpaceId},
    jobs::MessageRef,
    runs::ForkOf,
};

/// The cause of a run. The content of the trigger has an item of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum TriggeredBy {
    Message {
        space_id: SpaceId,
        /// The message's number in the space.
        seq: u64,
        message_id: MessageId,
        /// Why it triggered the agent.
        source: Source,
        /// The chain of the message. `None` if the message begins it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chain: Option<ChainId>,
        /// Whether the message, or one that has joined it, is a question that is not left to
        /// silence.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        asks: bool,
        /// Whether the message is a person's reply: the run's messages in this space reply to it,
        /// unless the agent says otherwise.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_reply: bool,
    },
    Plan {
        plan_id: PlanId,
        /// The time that the plan fired for.
        scheduled_at: Time,
    },
    Delivery {
        delivery_id: DeliveryId,
    },
    /// The operator, who looks at what another run would have done.
    Fork {
        /// Where it begins.
        fork_of: ForkOf,
        /// The space that triggered the other run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of_space: Option<SpaceId>,
    },
    /// A cause that this version does not know. A worker leaves such a run to a later version.
    Unknown {},
}

impl TriggeredBy {
    /// Whether a message triggered the run that somebody meant for its agent.
    pub fn names_agent(&self) -> bool {
        matches!(self, Self::Message { source, .. } if source.names_agent())
    }

    /// Whether somebody has to look after a question if the run ends in silence.
    pub fn asks(&self) -> bool {
        matches!(self, Self::Message { asks: true, .. })
    }

    /// The message to which a message of the run replies that goes to `space`. `asked` is what the
    /// agent says: the number of a message, or 0 for none.
    pub fn parent_in(&self, space: SpaceId, asked: Option<u64>) -> Option<u64> {
        match (asked, self) {
            (Some(asked), _) => Some(asked).filter(|seq| *seq > 0),
            (None, Self::Message { space_id, seq, is_reply: true, .. }) => {
                (*space_id == space).then_some(*seq)
            }
            (None, _) => None,
        }
    }

    /// The cause of a run that repeats another one. Nobody looks after its question: the failure of
    /// the first run is shown.
    pub(super) fn repeated(mut self) -> Self {
        if let Self::Message { asks, .. } = &mut self {
            *asks = false;
        }
        self
    }

    /// Where the run begins, if it is a fork.
    pub fn fork_of(&self) -> Option<ForkOf> {
        if let Self::Fork { fork_of, .. } = self { Some(*fork_of) } else { None }
    }

    pub(super) fn message(&self) -> Option<MessageRef> {
        if let Self::Message { space_id, seq, .. } = *self {
            Some(MessageRef { space_id, seq })
        } else {
            None
        }
    }
}
