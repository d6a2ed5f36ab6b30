//! A run: what an agent does once it is woken.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Time,
    access::KnownBy,
    ids::{EntityId, RunId, SpaceId},
    prices,
    schemas::ShownTrigger,
    steps::Step,
    triggers::{self, Trigger},
};

/// A run's state. `queued → running → completed | failed`; `running → waiting_tool → running`; all but the last three `→ canceled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Nobody works on it yet.
    Queued,
    /// Someone does, or did and will again.
    Running,
    /// It waits for people to answer forms.
    WaitingTool,
    /// It ended as it should.
    Completed,
    /// It ended with an error.
    Failed,
    /// It was ended.
    Canceled,
}

impl RunStatus {
    /// As the API, the table and prompts write it.
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

    /// Whether something will still happen to it.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::WaitingTool)
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The model stopped calling tools.
    Done,
    /// It chose to stay silent.
    Skipped,
    /// It handed its trigger on.
    Delegated,
    /// `loop.maxSteps`.
    MaxSteps,
    /// `loop.timeLimit`.
    TimeLimit,
    /// Someone canceled it.
    Cancel,
    /// Another run of the agent stopped it.
    StopRun,
    /// Another run of the agent took its work.
    Absorbed,
    /// A newer trigger replaced it.
    Superseded,
    /// Another run took its trigger along.
    Coalesced,
    /// Its agent or space is gone, or the agent left the space.
    Removed,
}

/// Why a run failed, sorted so that people can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The provider has no key here, or is not built in.
    NotConfigured,
    /// The provider refused the key.
    Unauthorized,
    /// The provider wants us to wait longer than a run can.
    RateLimited,
    /// The provider is overloaded.
    Overloaded,
    /// The prompt does not fit the model.
    ContextTooLong,
    /// The provider refused the request.
    BadRequest,
    /// The answer broke off, or fell silent.
    BrokenStream,
    /// A budget is used.
    Budget,
    /// Its process died too often.
    Attempts,
    /// A fault of ours.
    Internal,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunError {
    /// Sorted.
    pub code: FailureCode,
    /// A text that helps, without a secret.
    pub message: String,
}

/// Tokens and dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Of them, those that the provider had cached.
    pub cached_tokens: u64,
    /// Of them, those that it wrote to its cache.
    pub cache_write_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Dollars; null where the model has no price.
    #[schema(required)]
    pub cost: Option<f64>,
}

impl std::ops::AddAssign for Usage {
    /// Counts come from outside, and may be nonsense.
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (mine, others) => Some(prices::rounded(mine.unwrap_or(0.0) + others.unwrap_or(0.0))),
        };
    }
}

/// A run, as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Whose run.
    pub agent_id: EntityId,
    /// Its state.
    pub status: RunStatus,
    /// Why it ended.
    #[schema(required)]
    pub end_reason: Option<EndReason>,
    /// Why it was started.
    #[schema(value_type = ShownTrigger)]
    #[serde(deserialize_with = "triggers::shown")]
    pub trigger: Trigger,
    /// Where it would speak.
    #[schema(required)]
    pub active_space_id: Option<SpaceId>,
    /// Its trigger's depth.
    pub chain_depth: u32,
    /// Claims so far that followed a lost lease, and the first.
    pub attempt: u32,
    /// Model answers so far.
    pub step_count: u32,
    /// What it used.
    pub usage: Usage,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<RunError>,
    /// When it was queued.
    pub created_at: Time,
    /// When it was first claimed.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When it ended.
    #[schema(required)]
    pub finished_at: Option<Time>,
    /// What it did; for the operator, and not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
}

impl Run {
    /// Who may know where it is, where that is not the space in which it is shown.
    pub fn known_by(&self, shown_in: SpaceId) -> Option<KnownBy> {
        self.active_space_id.filter(|space| *space != shown_in).map(KnownBy::Members)
    }

    /// The same with its trigger as those see it who may know no more than the type.
    #[must_use]
    pub fn without_trigger(self) -> Self {
        Self { trigger: self.trigger.hidden(), ..self }
    }

    /// The same for who is no member of the space that it entered.
    #[must_use]
    pub fn without_active_space(self) -> Self {
        Self { active_space_id: None, ..self }
    }
}
