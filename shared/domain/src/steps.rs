//! The steps of a run: what a model received, what it answered, and the results of its calls.

mod calls;
mod live;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use self::{
    calls::{Call, CallStatus, ReturnedFile},
    live::{LiveAnswer, LiveCall, LiveCallDetails, LiveStep},
};
use crate::{Time, stored::tolerant, usage::Usage};

/// Where a model answer comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResponseOrigin {
    /// The answer's id at its provider; absent if the provider gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The model that answered, as its provider names it; absent if the provider named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_model: Option<String>,
    /// The host of the provider's server; absent if the provider is not reached over a base URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl ResponseOrigin {
    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// One model answer with its tool calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The position of the step in its run, from 0. The last one may be under way.
    pub index: u32,
    /// The run's `attempt` that made the step.
    pub attempt: u32,
    /// The revision of the agent with which the model was asked: a worker that takes a run over
    /// reads the configuration anew. Absent while the step is under way, and for a remote agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_revision: Option<u64>,
    /// The model that answered, as `provider/model`. If the step is under way: the agent's model,
    /// which is asked first.
    pub model: String,
    /// Where the answer comes from. Absent if nothing is known of it.
    #[serde(default, skip_serializing_if = "ResponseOrigin::is_unknown")]
    pub origin: ResponseOrigin,
    /// What the model received: the whole prompt in step 0, later only what was added.
    pub prompt: Prompt,
    /// How many of the run's oldest tool results this question cut, because most of the model's
    /// window was used. Absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_results: Option<u32>,
    /// How many leading UTF-16 code units of the prompt equal those of the previous run of this
    /// agent in this space: providers read these from their cache. Only in step 0 of a run whose
    /// predecessor is still stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_prefix: Option<u64>,
    /// The names of the tools that the model could call. Absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What watchers added before the step.
    pub system_messages: Vec<SystemMessage>,
    /// What the model wrote besides its calls. It is private and posted nowhere.
    pub text: String,
    /// What the model thought, in the form in which its provider sent it, signatures included. The
    /// next steps send it back to the same model. Only the operator sees it. Absent if the provider
    /// sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Value>,
    /// The tool calls.
    pub calls: Vec<Call>,
    /// True if the run was canceled while the model wrote the answer: the text and the inputs end
    /// where it was stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Why the model stopped. Null while the step is under way, and if it is partial.
    #[schema(required)]
    pub finish_reason: Option<FinishReason>,
    /// The tokens and the cost of the answer.
    pub usage: Usage,
    /// When the model was called.
    pub started_at: Time,
    /// When the first part of the answer arrived.
    #[schema(required)]
    pub first_token_at: Option<Time>,
    /// When the answer was complete. Null while the step is under way.
    #[schema(required)]
    pub finished_at: Option<Time>,
}

/// What a model received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Prompt {
    /// The texts of the system message.
    pub system: Vec<String>,
    /// The messages of the conversation.
    pub messages: Vec<Value>,
}

impl Prompt {
    /// Its texts, in the order in which a model reads them.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let messages = self.messages.iter().flat_map(texts_of);
        self.system.iter().map(String::as_str).chain(messages)
    }

    /// How many leading UTF-16 code units it shares with another prompt.
    pub fn shared_prefix(&self, other: &Self) -> u64 {
        let units = |prompt: &Self| prompt.texts().flat_map(str::encode_utf16).collect::<Vec<_>>();
        let both = units(self).into_iter().zip(units(other));
        both.take_while(|(one, other)| one == other).count() as u64
    }
}

/// A message for the model that a watcher added between two steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SystemMessage {
    /// The watcher's name.
    pub watcher: String,
    /// The text of the message.
    pub text: String,
}

/// The watcher of notes about servers.
const SERVERS: &str = "servers";

/// The texts of a message of a conversation.
fn texts_of(message: &Value) -> impl Iterator<Item = &str> {
    let blocks = message["blocks"].as_array().into_iter().flatten();
    blocks.chain([&message["text"]]).filter_map(Value::as_str)
}

impl SystemMessage {
    /// A note about a server of the agent's tools, with its addresses and settings.
    pub fn about_server(text: String) -> Self {
        Self { watcher: SERVERS.to_owned(), text }
    }

    /// Whether the model reads it. The notes about servers are for the operator alone.
    pub fn is_for_model(&self) -> bool {
        self.watcher != SERVERS
    }

    /// Whether only the operator may read it. The watchers `news`, `resumed` and `start` tell a
    /// model about its agent and about other spaces, which members of this space may not know, and
    /// `budget` about what the operator spends.
    pub fn is_for_operator(&self) -> bool {
        is_private(&self.watcher)
    }
}

/// The watcher of the budgets of agents and of the deployment.
pub const BUDGET: &str = "budget";
/// The watcher of the budget of a space.
pub const SPACE_BUDGET: &str = "space_budget";

/// Whether only the operator may read what this watcher says.
pub fn is_private(watcher: &str) -> bool {
    ["news", "resumed", "start", BUDGET, SERVERS].contains(&watcher)
}

/// Whether only the owners of the space, and the operator, may read what this watcher says.
pub fn is_for_owners(watcher: &str) -> bool {
    watcher == SPACE_BUDGET
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum FinishReason {
    /// It waits for the results of its calls.
    ToolCalls,
    /// Its answer was complete.
    Stop,
    /// Its answer reached `maxOutputTokens`.
    Length,
    /// The model or a filter of its provider refused to answer.
    Refusal,
    /// The provider paused a long turn. The next step continues it.
    Pause,
    /// No model answered, or the answer failed.
    Error,
}

tolerant!(FinishReason);
