//! A run: what an agent does about one trigger.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crate::usage::{ReportedUsage, Usage, UsageByModel};
use crate::{
    Time,
    callers::KnownBy,
    identity::Sender,
    ids::{ChainId, EntityId, RunId, SpaceId},
    steps::{self, Step},
    stored::{self, tolerant},
    triggers::{self, RunTrigger, Trigger},
};

/// The status of a run.
///
/// `queued → running → completed | failed`, and `running → waiting_tool → running`. A run that is
/// queued, running or waiting can become `canceled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// No worker has claimed it.
    Queued,
    /// A worker works on it, or another worker will take it over.
    Running,
    /// It waits for answers to its forms.
    WaitingTool,
    /// It ended as intended.
    Completed,
    /// It ended with an error.
    Failed,
    /// It was ended from outside.
    Canceled,
}

impl RunStatus {
    /// The status as the API, the table and prompts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::WaitingTool => "waiting_tool",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }

    /// Whether the run has not ended.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::WaitingTool)
    }
}

/// Why a run ended, unless it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum EndReason {
    /// The model called no more tools. With `continueOn: "writes"` also: its calls changed nothing.
    /// With `endAfterSend: true` also: all of them posted messages to the space of the trigger.
    /// Also if the run called `skip_response` after it had posted something.
    Done,
    /// The agent called `skip_response`.
    Skipped,
    /// The agent called `delegate`.
    Delegated,
    /// The model refused to answer, and so did its fallbacks.
    Refusal,
    /// `loop.maxSteps` was reached.
    MaxSteps,
    /// `loop.timeLimit` has passed.
    TimeLimit,
    /// Two answers in a row were cut at `maxOutputTokens`, or a text without a call was.
    Length,
    /// The operator or a person canceled the run.
    Cancel,
    /// A person ended the run in place of approving one of its calls, or nobody decided in time a
    /// call whose rule then ends the run.
    Declined,
    /// Another run of the agent called `stop_run`.
    StopRun,
    /// Another run of the agent called `absorb_run` and took over its work.
    Absorbed,
    /// A newer message replaced the run: its agent has `mode: "latest"`.
    Superseded,
    /// Another run answers its message, too: its agent has `mode: "coalesce"`.
    Coalesced,
    /// The agent was retired or left the space, or the space was deleted.
    Removed,
    /// The message that triggered the run was deleted, and so was every message that had joined it.
    Deleted,
}

tolerant!(EndReason);

/// Why a run failed, by what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum FailureCode {
    /// The provider has no key, address, region or credentials here; or a secret is not set.
    NotConfigured,
    /// The provider refused the key.
    Unauthorized,
    /// The provider's rate limit outlasted the retries.
    RateLimited,
    /// The provider or the remote agent cannot be reached or is overloaded.
    Overloaded,
    /// The prompt does not fit the model.
    ContextTooLong,
    /// The provider refused the request, or the quota of the key is used.
    BadRequest,
    /// The answer broke off, fell silent, or was too long.
    BrokenStream,
    /// The budget of the agent, the space or the deployment for today is used.
    Budget,
    /// The remote agent did not complete the run in time.
    Timeout,
    /// The remote agent refused the run.
    Refused,
    /// The remote agent reported that it failed.
    Remote,
    /// The run was claimed five times, and each time its worker lost the lease.
    Attempts,
    /// A fault in Smartspace, or the run waited so long that its stored steps expired.
    Internal,
}

tolerant!(FailureCode);

impl FailureCode {
    /// What members read of a failure. The words of providers and servers may name accounts, keys
    /// and addresses, so only the operator gets them.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotConfigured => "the model, the agent or a secret of it is not configured here",
            Self::Unauthorized => "the provider refused the deployment's credentials",
            Self::RateLimited => "the provider's rate limit outlasted the retries",
            Self::Overloaded => {
                "the provider or the remote agent can't be reached or is overloaded"
            }
            Self::ContextTooLong => "the prompt does not fit the model",
            Self::BadRequest => "the provider refused the request",
            Self::BrokenStream => "the answer broke off, fell silent, or was too long",
            Self::Budget => {
                "the budget of the agent, the space or the deployment for today is used; a day \
                 begins at midnight UTC"
            }
            Self::Timeout => "the remote agent did not complete the run in time",
            Self::Refused => "the model or the remote agent refused",
            Self::Remote => "the remote agent reported that it failed",
            Self::Attempts => "the run was claimed five times, and each time its worker was lost",
            Self::Internal => "a fault in Smartspace, or the run waited too long",
        }
    }
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunError {
    /// What went wrong.
    pub code: FailureCode,
    /// An explanation for people. The operator gets the provider's own words, without secrets;
    /// others get what the code means.
    pub message: String,
}

/// A system message of a watcher to the model of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Hint {
    /// The watcher's name.
    pub watcher: String,
    /// The text of the message.
    pub text: String,
    /// When the model was asked with it.
    pub at: Time,
}

/// Where a fork begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkOf {
    /// The run whose steps it replays.
    pub run_id: RunId,
    /// The first step for which it asks its model itself.
    pub step: u32,
}

/// A run of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The run's id.
    pub id: RunId,
    /// The run's agent.
    pub agent_id: EntityId,
    /// The run's status.
    #[serde(deserialize_with = "stored::read")]
    pub status: RunStatus,
    /// Why the run ended; null while it is active and if it failed.
    #[schema(required)]
    pub end_reason: Option<EndReason>,
    /// The reason that the agent gave when it called `skip_response`, or that a remote agent gave
    /// when it completed the run, up to 300 characters. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The numbers of the messages besides its trigger that the run answers, too. Absent if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<u64>,
    /// The run that answers the run's message instead; only if `endReason` is `coalesced`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into_run_id: Option<RunId>,
    /// The run that this one repeats, because a person asked for it. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    /// Where the run begins, if it is a dry run of another one: it changes nothing. Absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<ForkOf>,
    /// Why the run was started.
    #[schema(value_type = RunTrigger)]
    #[serde(deserialize_with = "triggers::shown")]
    pub trigger: Trigger,
    /// The space that the run posts to; null if it has entered none.
    #[schema(required)]
    pub active_space_id: Option<SpaceId>,
    /// The chain depth of the run's trigger.
    pub chain_depth: u32,
    /// The chain that the run belongs to: the same for all that one message, or one run of a plan
    /// or a service, has set off. Absent unless the reader is the operator: the chain may have
    /// begun in another space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_id: Option<ChainId>,
    /// 1, plus 1 for each takeover after a lost lease.
    pub attempt: u32,
    /// The number of stored model answers.
    pub step_count: u32,
    /// The revision of the agent that the run's last worker had. Absent before the first answer is
    /// stored, for a remote agent, and for members who are no owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_revision: Option<u64>,
    /// The tokens and the cost of the run. None of a remote run is counted here. Absent, as
    /// `reportedUsage`, unless the reader is the operator, or an owner who reads the run over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// True if a remote agent works on the run. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remote: bool,
    /// What a remote agent says that it has used. No budget counts it. Absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_usage: Option<ReportedUsage>,
    /// Why the run failed.
    #[schema(required)]
    pub error: Option<RunError>,
    /// When the run was queued.
    pub created_at: Time,
    /// When a worker first claimed the run.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When the first part of the first answer arrived. Absent before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_at: Option<Time>,
    /// When the run ended.
    #[schema(required)]
    pub finished_at: Option<Time>,
    /// When words of deleted messages were last removed from the run's stored prompts and results;
    /// absent if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted_at: Option<Time>,
    /// The beginning of the message that triggered the run. Absent unless a list is asked for
    /// `messages`, as the next three, and if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Who sent that message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<Sender>,
    /// The number of the first message that the run has posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_seq: Option<u64>,
    /// The beginning of that message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The messages of watchers to the model, as members may see them. Not in events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<Hint>>,
    /// The run's steps. Only for the operator, and not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
}

impl Run {
    /// Who may see the run's active space, if that is not the space `shown_in` in which it is
    /// shown.
    pub fn known_by(&self, shown_in: SpaceId) -> Option<KnownBy> {
        self.active_space_id.filter(|space| *space != shown_in).map(KnownBy::Members)
    }

    /// The run without the texts of its trigger, as events and lists carry it.
    #[must_use]
    pub fn without_trigger_texts(self) -> Self {
        Self { trigger: self.trigger.without_texts(), ..self }
    }

    /// The run for readers who may know only the type of its trigger.
    #[must_use]
    pub fn without_trigger(self) -> Self {
        Self { trigger: self.trigger.hidden(), ..self }
    }

    /// The run for readers other than the operator, without the words of providers and servers.
    #[must_use]
    pub fn without_foreign_words(self) -> Self {
        let plain = |error: RunError| RunError { message: error.code.words().into(), ..error };
        Self { error: self.error.map(plain), ..self }
    }

    /// The run for readers other than the operator, without its chain: that names what happened in
    /// another space, if the chain began there.
    #[must_use]
    pub fn without_chain(self) -> Self {
        Self { chain_id: None, ..self }
    }

    /// The run for members who are no owners: without the agent's revision and its usage, and
    /// without the hints about what the space may spend.
    #[must_use]
    pub fn for_members(self) -> Self {
        let is_shown = |hint: &Hint| !steps::is_for_owners(&hint.watcher);
        let hints = self.hints.map(|hints| hints.into_iter().filter(is_shown).collect());
        Self { config_revision: None, usage: None, reported_usage: None, hints, ..self }
    }

    /// The run for readers who are not members of the space that it has entered.
    #[must_use]
    pub fn without_active_space(self) -> Self {
        Self { active_space_id: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_read_nothing_about_money_and_revisions_of_a_run() {
        let hint = |watcher: &str| {
            let (watcher, text) = (watcher.to_owned(), String::new());
            Hint { watcher, text, at: Time::default() }
        };
        let run = json!({
            "id": RunId::new(Time::default(), 1),
            "agentId": EntityId::new(Time::default(), 1),
            "status": "completed",
            "trigger": {"type": "service", "service": "shop", "payload": {}},
            "chainDepth": 0,
            "attempt": 1,
            "stepCount": 1,
            "configRevision": 3,
            "usage": Usage::default(),
            "reportedUsage": ReportedUsage::default(),
            "createdAt": Time::default(),
        });
        let mut run: Run = serde_json::from_value(run).unwrap();
        run.hints = Some(vec![hint("steps"), hint(steps::SPACE_BUDGET)]);
        let shown = Run {
            config_revision: None,
            usage: None,
            reported_usage: None,
            hints: Some(vec![hint("steps")]),
            ..run.clone()
        };
        assert!(run.usage.is_some() && run.reported_usage.is_some());
        assert_eq!(run.for_members(), shown);
    }
}
