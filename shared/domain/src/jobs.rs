//! The jobs in the three queues. The wire name of each job holds its version, because workers of
//! two versions may share a queue.

mod events;

use serde::{Deserialize, Serialize};

pub use self::events::{EventJob, Recipient, Recipients};
use crate::{
    Time,
    events::Event,
    ids::{EntityId, PlanId, RunId, SpaceId},
};

/// A message, by its space and `seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageRef {
    /// The message's space.
    pub space_id: SpaceId,
    /// The message's position in the space.
    pub seq: u64,
}

/// A run, and what its worker needs to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRef {
    /// The run.
    pub run_id: RunId,
    /// The run's agent.
    pub agent_id: EntityId,
    /// The message that triggered the run, so that the worker can read it while it claims the run.
    /// `None` if a plan or a service triggered the run.
    #[serde(flatten)]
    pub place: Option<MessageRef>,
    /// Whether the run belongs to the lane of its agent in the space of that message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_lane: bool,
    /// Whether the run waits for no turn and takes none, because it changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_fork: bool,
}

/// A job of the runs queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum RunJob {
    /// Claim a run and continue it.
    #[serde(rename = "run.1")]
    Run(RunRef),
    /// Summarize the messages of a space that are older than the window of its prompts.
    #[serde(rename = "summarize.1")]
    Summarize {
        /// The space.
        space_id: SpaceId,
        /// The agent whose model writes the summary, at the agent's cost.
        agent_id: EntityId,
        /// The `seq` of the last message that the summary should cover.
        to: u64,
    },
}

/// A job of the broadcasts queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum BroadcastJob {
    /// Send an event to the connections that follow its space, or to some of them.
    #[serde(rename = "event.1")]
    Event(EventJob),
    /// Tell an entity's connections that it has joined a space, if it is still a member.
    #[serde(rename = "joined.1")]
    Joined {
        /// The entity.
        entity_id: EntityId,
        /// The space.
        space_id: SpaceId,
    },
    /// Tell an entity's connections that it has left a space.
    #[serde(rename = "left.1")]
    Left {
        /// The entity.
        entity_id: EntityId,
        /// The space.
        space_id: SpaceId,
    },
    /// Tell an entity's connections how far it has read a space.
    #[serde(rename = "ownRead.1")]
    OwnRead {
        /// The entity.
        entity_id: EntityId,
        /// The space.
        space_id: SpaceId,
        /// The last message that it has read.
        seq: u64,
    },
    /// Tell an entity's connections that it is no longer a member of a space, and delete their
    /// subscriptions to it.
    #[serde(rename = "removed.1")]
    Removed {
        /// The entity.
        entity_id: EntityId,
        /// The space.
        space_id: SpaceId,
    },
}

impl From<Event> for BroadcastJob {
    fn from(event: Event) -> Self {
        Self::Event(event.into())
    }
}

/// A job of the triggers queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum TriggerJob {
    /// Decide the dispatch of a message, unless it is decided, and start the triggered runs.
    #[serde(rename = "dispatch.1")]
    Dispatch {
        /// The message's space.
        space_id: SpaceId,
        /// The message's position in the space.
        seq: u64,
    },
    /// Finish a change of an entity: write its new name into its spaces, or remove it from them.
    #[serde(rename = "settleEntity.1")]
    SettleEntity {
        /// The entity.
        entity_id: EntityId,
    },
    /// Close the calls that an ended run has left open.
    #[serde(rename = "closeCalls.1")]
    CloseCalls {
        /// The run.
        run_id: RunId,
    },
    /// Fire a plan, if its next time is still `at`.
    #[serde(rename = "firePlan.1")]
    FirePlan {
        /// The plan's agent.
        agent_id: EntityId,
        /// The plan.
        plan_id: PlanId,
        /// The time for which the plan was scheduled.
        at: Time,
    },
    /// Check a run that waits for forms, because a form has expired.
    #[serde(rename = "wakeRun.1")]
    WakeRun {
        /// The run.
        run_id: RunId,
    },
    /// Tell the followers of a space the read positions that wait for it.
    #[serde(rename = "showReads.1")]
    ShowReads {
        /// The space.
        space_id: SpaceId,
    },
    /// Tell the followers of a space who is present, if that is due.
    #[serde(rename = "showPresence.1")]
    ShowPresence {
        /// The space.
        space_id: SpaceId,
    },
    /// Finish the removal of a space.
    #[serde(rename = "settleSpace.1")]
    SettleSpace {
        /// The space.
        space_id: SpaceId,
    },
}

/// A job of a queue. A queue serves its groups in turn, so that a busy space does not delay the
/// others.
pub trait Job: Clone + Serialize + for<'de> Deserialize<'de> + Send + Sync + 'static {
    /// The group of the job: its space, its entity or its run.
    fn group(&self) -> String;
}

impl Job for RunJob {
    fn group(&self) -> String {
        match self {
            Self::Run(RunRef { place: Some(MessageRef { space_id, .. }), .. })
            | Self::Summarize { space_id, .. } => space_id.to_string(),
            Self::Run(RunRef { agent_id, place: None, .. }) => agent_id.to_string(),
        }
    }
}

impl Job for BroadcastJob {
    fn group(&self) -> String {
        match self {
            Self::Event(job) => job.event.space_id.to_string(),
            Self::Removed { space_id, .. }
            | Self::Joined { space_id, .. }
            | Self::OwnRead { space_id, .. }
            | Self::Left { space_id, .. } => space_id.to_string(),
        }
    }
}

impl Job for TriggerJob {
    fn group(&self) -> String {
        match self {
            Self::Dispatch { space_id, .. }
            | Self::SettleSpace { space_id }
            | Self::ShowPresence { space_id }
            | Self::ShowReads { space_id } => space_id.to_string(),
            Self::SettleEntity { entity_id } | Self::FirePlan { agent_id: entity_id, .. } => {
                entity_id.to_string()
            }
            Self::CloseCalls { run_id } | Self::WakeRun { run_id } => run_id.to_string(),
        }
    }
}
