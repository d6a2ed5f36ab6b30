//! What the router of a space says about a message.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    dispatch::{Reason, Source},
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
    /// It did not answer: everyone is woken.
    Failed,
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
    /// Whether the router chose without knowing of an agent: it could not be woken then.
    pub(super) fn leaves_out(self, agent: EntityId) -> bool {
        matches!(self, Self::Chose(choice) if !choice.asked.contains(&agent))
    }

    /// Whether the policy `router` wakes an agent that the message does not mention, and the
    /// router's words for that.
    pub(super) fn of(self, agent: EntityId) -> (Result<Source, Reason>, Option<String>) {
        let Self::Chose(choice) = self else { return (Ok(Source::Broadcast), None) };
        let words = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        if let Some(reason) = choice.chosen.get(&agent) {
            return (Ok(Source::Router), words(reason));
        }
        let reason = choice.others.get(&agent).and_then(words);
        (Err(Reason::Router), reason.or_else(|| words(&choice.summary)))
    }
}

/// A question to a router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Routed {
    /// `provider/model`.
    pub model: String,
    /// The tokens and the cost of its answers.
    pub usage: Usage,
    /// The time until it answered or was given up, in milliseconds.
    pub latency_ms: u64,
    /// Why its choice is not known; absent if it is. Then every agent was triggered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
