//! Ids that are derived from their cause. Work that is repeated makes the same ids again.

use sha2::{Digest, Sha256};
use ulid::Ulid;

use crate::{
    Time,
    ids::{CallId, ChainId, EntityId, LineId, MessageId, PlanId, RunId, SpaceId, StreamId},
};

/// A ULID with the time of its cause, and the first 80 bits of the SHA-256 of `parts` joined by
/// `|`.
fn repeatable(at: u64, parts: &[&str]) -> Ulid {
    let digest = Sha256::digest(parts.join("|").as_bytes());
    let mut bytes = [0; 16];
    bytes[6..].copy_from_slice(&digest[..10]);
    Ulid::from_parts(at, u128::from_be_bytes(bytes))
}

impl RunId {
    /// The run of `agent` that a message triggers. It is the same each time the dispatch is
    /// repeated.
    pub fn of_message(agent: EntityId, message: MessageId, created_at: Time) -> Self {
        let at = u64::try_from(created_at.as_millis()).unwrap_or(0);
        Self(repeatable(at, &["run", &agent.to_string(), &message.to_string()]))
    }

    /// The run that a plan triggers at one of its times.
    pub fn of_plan(agent: EntityId, plan: PlanId, scheduled_at: Time) -> Self {
        let at = u64::try_from(scheduled_at.as_millis()).unwrap_or(0);
        Self(repeatable(at, &["run", &agent.to_string(), &format!("{plan}@{scheduled_at}")]))
    }

    /// The run of `agent` that a delivery triggers. `key` identifies the delivery among those of
    /// the service, and `received_at` is its stored time.
    pub fn of_delivery(agent: EntityId, service: &str, key: &str, received_at: Time) -> Self {
        let at = u64::try_from(received_at.as_millis()).unwrap_or(0);
        let agent = agent.to_string();
        Self(repeatable(at, &["run", &agent, &agent, service, key]))
    }

    /// The run of `agent` to which the run `from` of another agent delegates its trigger.
    pub fn of_delegation(agent: EntityId, from: Self) -> Self {
        Self(repeatable(
            from.0.timestamp_ms(),
            &["run", &agent.to_string(), "delegate", &from.to_string()],
        ))
    }

    /// The run for a question that nobody has answered. There is one for each message, whichever
    /// agent it is of. It comes after the runs of the message in lists, but has almost the same
    /// time, so that lists by trigger find it.
    pub fn of_unanswered(message: MessageId, created_at: Time) -> Self {
        let at = u64::try_from(created_at.as_millis()).unwrap_or(0);
        Self(repeatable(at + 1, &["unanswered", &message.to_string()]))
    }

    /// The run of `agent` that repeats the run `from`. There is one for each run. It comes after
    /// that run in lists, but has almost the same time, so that lists by trigger find it.
    pub fn of_retry(agent: EntityId, from: Self) -> Self {
        Self(repeatable(
            from.0.timestamp_ms() + 1,
            &["run", &agent.to_string(), "retry", &from.to_string()],
        ))
    }
}

impl From<MessageId> for ChainId {
    /// The chain that a message begins.
    fn from(id: MessageId) -> Self {
        Self(id.0)
    }
}

impl From<RunId> for ChainId {
    /// The chain that a run of a plan or a service begins.
    fn from(id: RunId) -> Self {
        Self(id.0)
    }
}

impl LineId {
    /// The `index`-th line of the change that gives the roster of a space this version.
    pub fn of_change(space: SpaceId, roster: u64, index: usize, at: Time) -> Self {
        let at = u64::try_from(at.as_millis()).unwrap_or(0);
        let (space, roster, index) = (space.to_string(), roster.to_string(), index.to_string());
        Self(repeatable(at, &["lin", &space, &roster, &index]))
    }
}

impl CallId {
    /// The `index`-th call of a run's `step`, both from 0.
    pub fn of(run: RunId, step: u32, index: u32) -> Self {
        Self(repeatable(
            run.0.timestamp_ms(),
            &["cal", &run.to_string(), &step.to_string(), &index.to_string()],
        ))
    }
}

impl CallId {
    /// The call of a remote agent with this idempotency key.
    pub fn of_remote(run: RunId, key: &str) -> Self {
        Self(repeatable(run.0.timestamp_ms(), &["cal", &run.to_string(), "remote", key]))
    }

    /// The call that a stream of a remote agent shows. It posts nothing itself.
    pub fn of_remote_stream(run: RunId, key: &str) -> Self {
        Self(repeatable(run.0.timestamp_ms(), &["cal", &run.to_string(), "stream", key]))
    }
}

impl PlanId {
    /// The `index`-th new plan of a tool call.
    pub fn of_call(call: CallId, index: usize) -> Self {
        Self(repeatable(call.0.timestamp_ms(), &["pln", &call.to_string(), &index.to_string()]))
    }

    /// The plan of an agent that has this name in files.
    pub fn of_file(agent: EntityId, external_id: &str) -> Self {
        Self(repeatable(agent.0.timestamp_ms(), &["pln", &agent.to_string(), external_id]))
    }
}

impl MessageId {
    /// The message that a tool call posts.
    pub fn of_call(call: CallId) -> Self {
        Self(repeatable(call.0.timestamp_ms(), &["msg", &call.to_string()]))
    }

    /// The message that a tool call posts after people have approved it. Its first message is the
    /// card that showed it to them.
    pub fn of_approved_call(call: CallId) -> Self {
        Self(repeatable(call.0.timestamp_ms(), &["msg", &call.to_string(), "approved"]))
    }
}

impl StreamId {
    /// The stream of a tool call's text in one attempt to write it.
    pub fn of(call: CallId, attempt: u32) -> Self {
        Self(repeatable(call.0.timestamp_ms(), &["str", &call.to_string(), &attempt.to_string()]))
    }
}
