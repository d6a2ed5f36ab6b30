//! What travels through the three queues. Each task is versioned in its variant's name: workers of two versions may share a queue.

use serde::{Deserialize, Serialize};

use crate::{
    Time,
    events::Event,
    ids::{EntityId, PlanId, RunId, SpaceId},
};

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Its space.
    pub space_id: SpaceId,
    /// Its number there.
    pub seq: u64,
}

/// For the runs queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum RunJob {
    /// Claim a run and go on with it.
    #[serde(rename = "run.1")]
    Run {
        /// The run.
        run_id: RunId,
        /// Whose.
        agent_id: EntityId,
        /// The message that woke it: a hint that lets a worker read while it claims. None where a plan or a service did.
        #[serde(flatten)]
        place: Option<Place>,
    },
    /// Write down what a space's history before the window says.
    #[serde(rename = "summarize.1")]
    Summarize {
        /// Where.
        space_id: SpaceId,
        /// Whose model writes, and is paid.
        agent_id: EntityId,
        /// The last message that it should cover.
        to: u64,
    },
}

/// For the broadcasts queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum BroadcastJob {
    /// Tell every connection of the event's space.
    #[serde(rename = "event.1")]
    Event {
        /// What.
        event: Box<Event>,
    },
    /// Tell an entity's own connections that it is in a space now, if it is.
    #[serde(rename = "joined.1")]
    Joined {
        /// Who.
        entity_id: EntityId,
        /// Where.
        space_id: SpaceId,
    },
    /// Tell an entity's own connections that it is in a space no more.
    #[serde(rename = "left.1")]
    Left {
        /// Who.
        entity_id: EntityId,
        /// Where.
        space_id: SpaceId,
    },
    /// Tell an entity's connections that it is no member any more, and forget their subscriptions.
    #[serde(rename = "removed.1")]
    Removed {
        /// Who.
        entity_id: EntityId,
        /// From where.
        space_id: SpaceId,
    },
}

/// For the triggers queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum TriggerJob {
    /// Decide whom a message wakes, if nobody has yet, and wake them.
    #[serde(rename = "dispatch.1")]
    Dispatch {
        /// Where.
        space_id: SpaceId,
        /// Which message.
        seq: u64,
    },
    /// Finish what changes of an entity began: a new name in its spaces, or its leaving them all.
    #[serde(rename = "settleEntity.1")]
    SettleEntity {
        /// Who.
        entity_id: EntityId,
    },
    /// Close the calls that a run which has ended left open.
    #[serde(rename = "closeCalls.1")]
    CloseCalls {
        /// Which run.
        run_id: RunId,
    },
    /// Fire a plan, if that is still the time that it has.
    #[serde(rename = "firePlan.1")]
    FirePlan {
        /// Whose.
        agent_id: EntityId,
        /// Which.
        plan_id: PlanId,
        /// The time.
        at: Time,
    },
    /// Look at a run that waits for people: the time of a form is up.
    #[serde(rename = "wakeRun.1")]
    WakeRun {
        /// Which run.
        run_id: RunId,
    },
    /// Finish the removal of a space.
    #[serde(rename = "settleSpace.1")]
    SettleSpace {
        /// Which.
        space_id: SpaceId,
    },
}

/// What a queue carries. Jobs of one group take their turn with those of others, so that a busy space does not hold up the rest.
pub trait Job: Clone + Serialize + for<'de> Deserialize<'de> + Send + Sync + 'static {
    /// The group: the space, or the entity.
    fn group(&self) -> String;
}

impl Job for RunJob {
    fn group(&self) -> String {
        match self {
            Self::Run { place: Some(Place { space_id, .. }), .. } | Self::Summarize { space_id, .. } => space_id.to_string(),
            Self::Run { agent_id, place: None, .. } => agent_id.to_string(),
        }
    }
}

impl Job for BroadcastJob {
    fn group(&self) -> String {
        match self {
            Self::Event { event } => event.space_id.to_string(),
            Self::Removed { space_id, .. } | Self::Joined { space_id, .. } | Self::Left { space_id, .. } => space_id.to_string(),
        }
    }
}

impl Job for TriggerJob {
    fn group(&self) -> String {
        match self {
            Self::Dispatch { space_id, .. } | Self::SettleSpace { space_id } => space_id.to_string(),
            Self::SettleEntity { entity_id } | Self::FirePlan { agent_id: entity_id, .. } => entity_id.to_string(),
            Self::CloseCalls { run_id } | Self::WakeRun { run_id } => run_id.to_string(),
        }
    }
}
