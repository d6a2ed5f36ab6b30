//! The settings of an agent's runs: their limits, their context, and how many run at a time.

mod concurrency;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::concurrency::{ConcurrencyConfig, ConcurrencyMode};
use crate::durations::WrittenDuration;

/// Limits of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
pub struct LoopConfig {
    /// How many model answers a run may have.
    #[schema(minimum = 1, maximum = 200)]
    pub max_steps: u32,
    /// After which tool calls the model is asked again.
    pub continue_on: ContinueOn,
    /// How long a run may work, at most 1 day. Waiting for forms does not count.
    pub time_limit: WrittenDuration,
    /// Whether to remind the agent once if it was named, posted nothing and answered in text alone.
    pub remind_unsaid: bool,
    /// Whether a run that a message triggered ends when all calls of an answer were `send_message`,
    /// succeeded and posted to the space of that message, unless one of them said `more: true`. The
    /// model is not asked once more, which saves a prompt for each answer.
    pub end_after_send: bool,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self {
            max_steps: 20,
            continue_on: ContinueOn::ToolCalls,
            time_limit: half_an_hour(),
            remind_unsaid: true,
            end_after_send: true,
        }
    }
}

fn half_an_hour() -> WrittenDuration {
    // The text is a constant that fits the grammar, so the fallback is never reached.
    "30 minutes".parse().unwrap_or_else(|_| unreachable!("\"30 minutes\" is a duration"))
}

/// After which tool calls the model is asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ContinueOn {
    /// After any call.
    #[default]
    ToolCalls,
    /// Only if a call changed something.
    Writes,
}

/// What the prompt contains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
pub struct ContextConfig {
    /// How many of the newest messages the prompt shows. It shows up to half as many more, because
    /// the window moves in steps of half its size.
    #[schema(minimum = 2, maximum = 500)]
    pub window: u32,
    /// The form of these messages.
    pub history: History,
    /// Which spaces the prompt lists. The default is `active` for an open agent, otherwise `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spaces: Option<SpacesShown>,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { window: 50, history: History::Timeline, spaces: None }
    }
}

/// Which groups of built-in tools an agent has. Without a group, its prompts also leave out the
/// block of that group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Builtins {
    /// `react` and `edit_message`.
    pub messages: bool,
    /// `set_memories`, `get_memories` and `delete_memories`.
    pub memories: bool,
    /// `set_goals`, `get_goals` and `delete_goals`.
    pub goals: bool,
    /// `set_plans`, `get_plans` and `delete_plans`.
    pub plans: bool,
    /// `get_my_runs`, `stop_run` and `absorb_run`.
    pub runs: bool,
    /// `search_messages`. An agent has it if a space of it is longer than `context.window`.
    pub search: bool,
    /// `delegate`. Only the admin agents of spaces have it.
    pub delegate: bool,
}

impl Default for Builtins {
    fn default() -> Self {
        Self {
            messages: true,
            memories: true,
            goals: true,
            plans: true,
            runs: true,
            search: true,
            delegate: true,
        }
    }
}

/// The form of the history in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum History {
    /// One structured text.
    Timeline,
    /// A conversation, in which the agent's own messages have the assistant role.
    Roles,
}

/// Which of an agent's spaces its prompt lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpacesShown {
    /// All spaces of the agent.
    All,
    /// Only the active space of the run.
    Active,
}
