//! The jobs in the three queues. The wire name of each job holds its version, because workers of
//! two versions may share a queue.

mod events;

use serde::{Deserialize, Serialize};

pub use self::events::{EventJob, Recipient, Recipients};
use crate::{
    Time,
    events::Event,
    ids::{AttachmentId, EntityId, LineId, PlanId, RunId, SpaceId},
};

/// A message, by its space and `seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// Whether the run needs no slot and is in no lane, because it changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_fork: bool,
}

impl RunRef {
    fn space(&self) -> Option<SpaceId> {
        self.place.map(|place| place.space_id)
    }
}

/// A job of the runs queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum RunJob {
    /// Claim a run and continue it, and side by side with it the others of the same message.
    #[serde(rename = "run.1")]
    Run {
        /// The run.
        #[serde(flatten)]
        run: RunRef,
        /// The others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<RunRef>,
    },
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

/// How many runs share a job, and with it an invocation and its processor.
const TOGETHER: usize = 3;

impl RunJob {
    /// The job that claims and continues one run.
    pub fn of(run: RunRef) -> Self {
        Self::Run { run, also: Vec::new() }
    }

    /// Joins the runs that a message wakes in its space into jobs of at most three. They mostly
    /// wait for their models, and an invocation costs as much for one run as for three.
    ///
    /// Only for runs that begin. A run that has to be repeated gets a job of its own, so that a run
    /// that ends its process ends no other.
    pub fn together(jobs: Vec<Self>) -> Vec<Self> {
        let mut joined: Vec<Self> = Vec::with_capacity(jobs.len());
        for job in jobs {
            match (joined.last_mut(), job) {
                (Some(Self::Run { run: first, also }), Self::Run { run, also: more })
                    if first.space() == run.space()
                        && 1 + also.len() + 1 + more.len() <= TOGETHER =>
                {
                    also.push(run);
                    also.extend(more);
                }
                (_, job) => joined.push(job),
            }
        }
        joined
    }
}

/// A job of the broadcasts queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all_fields = "camelCase")]
pub enum BroadcastJob {
    /// Send an event to the connections that follow its space, or to some of them.
    #[serde(rename = "event.1")]
    Event(EventJob),
    /// Notify an entity's connections that it has joined a space, if it is still a member.
    #[serde(rename = "joined.1")]
    Joined {
        /// The entity.
        entity_id: EntityId,
        /// The space.
        space_id: SpaceId,
    },
    /// Notify an entity's connections that it has left a space.
    #[serde(rename = "left.1")]
    Left {
        /// The entity.
        entity_id: EntityId,
        /// The space.
        space_id: SpaceId,
    },
    /// Notify an entity's connections how far it has read a space.
    #[serde(rename = "ownRead.1")]
    OwnRead {
        /// The entity.
        entity_id: EntityId,
        /// The space.
        space_id: SpaceId,
        /// The last message that it has read.
        seq: u64,
        /// How many tool cards there are up to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cards: Option<u64>,
    },
    /// Notify the connections of a space's people, and of the operator, that do not follow it, of
    /// its last message.
    #[serde(rename = "activity.1")]
    Activity {
        /// The space.
        space_id: SpaceId,
    },
    /// Notify an entity's connections that it is no longer a member of a space, and delete their
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
    /// Close the calls that an ended run has left open, and look after the questions that it has
    /// left to silence.
    #[serde(rename = "settleRun.1")]
    SettleRun {
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
    /// Export the trace of an ended run.
    #[serde(rename = "exportTrace.1")]
    ExportTrace {
        /// The run.
        run_id: RunId,
        /// How often the export has failed.
        failed: u32,
    },
    /// Send the followers of a space the read positions that wait for it.
    #[serde(rename = "showReads.1")]
    ShowReads {
        /// The space.
        space_id: SpaceId,
    },
    /// Send the followers of a space the reactions that wait for it.
    #[serde(rename = "showReactions.1")]
    ShowReactions {
        /// The space.
        space_id: SpaceId,
    },
    /// Send the followers of a space its presence, if that is due.
    #[serde(rename = "showPresence.1")]
    ShowPresence {
        /// The space.
        space_id: SpaceId,
    },
    /// Check a file that was uploaded, or delete one that no message has named in time.
    #[serde(rename = "settleFile.1")]
    SettleFile {
        /// The file's space.
        space_id: SpaceId,
        /// The file.
        attachment_id: AttachmentId,
    },
    /// Delete a file whose bytes the storage has deleted.
    #[serde(rename = "expireFile.1")]
    ExpireFile {
        /// The file's space.
        space_id: SpaceId,
        /// The file.
        attachment_id: AttachmentId,
    },
    /// Remove what is stored elsewhere of a message that was deleted.
    #[serde(rename = "forgetMessage.1")]
    ForgetMessage {
        /// The message's space.
        space_id: SpaceId,
        /// The message's position in the space.
        seq: u64,
    },
    /// Build the blocks of words that searches of a space read, from the newest messages on.
    #[serde(rename = "indexMessages.1")]
    IndexMessages {
        /// The space whose blocks are missing.
        space_id: SpaceId,
        /// Only the blocks with lower numbers than this one, which another job has reached. `None`
        /// for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<u64>,
    },
    /// Cancel the runs of a stop that are still active.
    #[serde(rename = "finishStop.1")]
    FinishStop {
        /// The space.
        space_id: SpaceId,
        /// The last message before the line of the stop.
        after_seq: u64,
        /// The line of the stop.
        line_id: LineId,
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

    /// The same work as jobs that each do a single thing.
    fn apart(self) -> Vec<Self> {
        vec![self]
    }
}

impl Job for RunJob {
    fn group(&self) -> String {
        match self {
            Self::Run { run: RunRef { place: Some(MessageRef { space_id, .. }), .. }, .. }
            | Self::Summarize { space_id, .. } => space_id.to_string(),
            Self::Run { run: RunRef { agent_id, place: None, .. }, .. } => agent_id.to_string(),
        }
    }

    fn apart(self) -> Vec<Self> {
        match self {
            Self::Run { run, also } => [run].into_iter().chain(also).map(Self::of).collect(),
            job @ Self::Summarize { .. } => vec![job],
        }
    }
}

impl Job for BroadcastJob {
    fn group(&self) -> String {
        match self {
            Self::Event(job) => job.event.space_id.to_string(),
            Self::Activity { space_id }
            | Self::Removed { space_id, .. }
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
            | Self::ForgetMessage { space_id, .. }
            | Self::IndexMessages { space_id, .. }
            | Self::FinishStop { space_id, .. }
            | Self::SettleFile { space_id, .. }
            | Self::ExpireFile { space_id, .. }
            | Self::SettleSpace { space_id }
            | Self::ShowPresence { space_id }
            | Self::ShowReactions { space_id }
            | Self::ShowReads { space_id } => space_id.to_string(),
            Self::SettleEntity { entity_id } | Self::FirePlan { agent_id: entity_id, .. } => {
                entity_id.to_string()
            }
            Self::SettleRun { run_id }
            | Self::WakeRun { run_id }
            | Self::ExportTrace { run_id, .. } => run_id.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u128, space: u128) -> RunRef {
        let at = Time::from_millis(1_760_000_000_000);
        RunRef {
            run_id: RunId::new(at, number),
            agent_id: EntityId::new(at, number),
            place: Some(MessageRef { space_id: SpaceId::new(at, space), seq: 7 }),
            in_lane: false,
            is_fork: false,
        }
    }

    #[test]
    fn runs_of_one_space_share_jobs_of_three() {
        let runs = [run(1, 1), run(2, 1), run(3, 1), run(4, 1), run(5, 2), run(6, 2)];
        let joined = RunJob::together(runs.map(RunJob::of).to_vec());
        let expected = [
            RunJob::Run { run: runs[0], also: vec![runs[1], runs[2]] },
            RunJob::of(runs[3]),
            RunJob::Run { run: runs[4], also: vec![runs[5]] },
        ];
        assert_eq!(joined, expected);
        let apart: Vec<_> = joined.into_iter().flat_map(RunJob::apart).collect();
        assert_eq!(apart, runs.map(RunJob::of));
        assert_eq!(RunJob::together(Vec::new()), []);
    }

    #[test]
    fn a_job_of_one_run_does_not_name_others() {
        let job = RunJob::Run { run: run(1, 1), also: vec![run(2, 1)] };
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<RunJob>(&text).unwrap(), job);
        let alone = serde_json::to_string(&RunJob::of(run(1, 1))).unwrap();
        assert!(!alone.contains("also"), "{alone}");
    }
}
