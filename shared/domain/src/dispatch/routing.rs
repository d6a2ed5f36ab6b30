//! What the router of a space says about a message.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    dispatch::{Reason, Source, gating::Verdict},
    ids::EntityId,
    usage::Usage,
};

/// What the router has said when a dispatch is decided.
#[derive(Clone, Copy, Debug)]
pub enum Routing<'a> {
    /// It was not asked. The agents that it could choose are listed as woken, and
    /// [`Decided::asks_router`](super::Decided::asks_router) says that it has to be asked.
    Unasked,
    /// Its choice.
    Chose(&'a Choice),
    /// It did not answer: the gate decides alone, or without a gate everyone is woken.
    Failed,
    /// The sender's messages have asked routers too often: none of the agents is woken about which
    /// it would be asked. The text says so.
    OverRate(&'a str),
}

/// A router's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The agents among which it chose.
    pub asked: BTreeSet<EntityId>,
    /// The chosen agents, with its reasons, which may be empty.
    pub chosen: BTreeMap<EntityId, String>,
    /// Agents that it left out, with its reasons.
    pub others: BTreeMap<EntityId, String>,
    /// The words for agents that it left out without a reason.
    pub summary: String,
}

impl Routing<'_> {
    /// What the policy `router` says without a gate about an agent that the message does not
    /// mention.
    pub(super) fn verdict(self, agent: EntityId) -> Verdict {
        let choice = match self {
            Self::Chose(choice) => choice,
            Self::OverRate(text) => return Verdict::new(Err(Reason::Rate), Some(text.to_owned())),
            Self::Unasked => return Verdict::asks(Source::Broadcast),
            Self::Failed => return Verdict::new(Ok(Source::Broadcast), None),
        };
        let words = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        if !choice.asked.contains(&agent) {
            return Verdict::left_out(words(&choice.summary));
        }
        if let Some(reason) = choice.chosen.get(&agent) {
            return Verdict::new(Ok(Source::Router), words(reason));
        }
        let reason = choice.others.get(&agent).and_then(words);
        Verdict::new(Err(Reason::Router), reason.or_else(|| words(&choice.summary)))
    }
}

/// A question to a router. Only the operator and the owners of the space read its model and usage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Routed {
    /// `provider/model`. Absent, as `usage`, unless the reader is an owner or the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tokens and the cost of its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The time until it answered or was given up, in milliseconds.
    pub latency_ms: u64,
    /// Why its choice is not known; absent if it is. Then the gate decided alone, and without a
    /// gate every agent was triggered. If the sender's messages have asked routers too often, it
    /// triggered none of the agents about which it would have been asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Routed {
    /// The question for readers who may not know what it costs.
    #[must_use]
    pub fn without_usage(self) -> Self {
        Self { model: None, usage: None, ..self }
    }
}
