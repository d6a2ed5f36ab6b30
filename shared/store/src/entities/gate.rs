//! The small item of an agent (`GATE`): the parts of its configuration that are read often, apart
//! from the rest.
//!
//! Each change of an agent writes its gate as a whole, in the same transaction. So the item is
//! always as new as the configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    agents::{AgentConfig, ModelConfig, Webhook},
    dispatch::WakeLimits,
    ids::EntityId,
};

use crate::{
    Entities, Error, Result,
    entities::no_such_entity,
    table::{keys, write::Write},
};

/// The longest webhooks that a gate holds, in bytes of JSON. The item stays under 4 KiB, the unit
/// in which the table counts reads: it is read for every message, too.
const WEBHOOKS_BYTES: usize = 3 * 1024;

/// An agent's gate, as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gate {
    #[serde(flatten)]
    limits: WakeLimits,
    /// The webhooks as JSON text, if they are short.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhooks: Option<String>,
}

/// The part of a gate that a webhook needs.
#[derive(Deserialize)]
struct Webhooks {
    #[serde(default)]
    webhooks: Option<String>,
}

/// Writes the gate of an agent.
pub(super) fn write(id: EntityId, agent: &AgentConfig) -> Result<Write> {
    let webhooks = serde_json::to_string(&agent.webhooks)
        .map_err(|error| Error::Internal(error.to_string()))?;
    let gate = Gate {
        limits: wake_limits_of(agent),
        webhooks: Some(webhooks).filter(|webhooks| webhooks.len() <= WEBHOOKS_BYTES),
    };
    Write::put(keys::gate(id), &gate)
}

/// Stores how many slots an agent has.
pub(super) fn write_slots(id: EntityId, agent: &AgentConfig) -> Result<Write> {
    Write::count(keys::slots(id), "SET #maxRuns = :most ADD #changes :one")
        .value(":most", agent.concurrency.max_runs)?
        .value(":one", 1)
}

/// Closes the gate of an agent that is retired: nothing triggers it, and it has no webhook.
pub(super) fn close(id: EntityId) -> Result<Write> {
    Write::update(keys::gate(id), "SET #paused = :yes, #webhooks = :none")
        .value(":yes", true)?
        .value(":none", "{}")
}

/// The part of an agent's configuration that a dispatch reads.
fn wake_limits_of(agent: &AgentConfig) -> WakeLimits {
    let concurrency = &agent.concurrency;
    WakeLimits {
        paused: agent.paused,
        max_chain_depth: agent.max_chain_depth,
        mode: concurrency.mode,
        max_runs: concurrency.max_runs,
        runs_per_minute: agent.budget.runs_per_minute,
        per_day: agent.budget.per_day(),
        model: agent.model.as_ref().map(ModelConfig::full_name),
    }
}

impl Entities<'_> {
    /// The webhook of one service at an agent, in one small read: anybody can send requests without
    /// a valid signature. Only if the gate does not hold the webhooks is the whole agent read.
    pub async fn webhook(self, agent: EntityId, service: &str) -> Result<Option<Webhook>> {
        let gate: Option<Webhooks> = self.store.table.get(&keys::gate(agent)).await?;
        let Some(gate) = gate else { return Err(no_such_entity()) };
        // A text that this version can't read is read from the agent, too.
        let stored = gate
            .webhooks
            .and_then(|text| serde_json::from_str::<BTreeMap<String, Webhook>>(&text).ok());
        if let Some(mut webhooks) = stored {
            return Ok(webhooks.remove(service));
        }
        let found = self.agent(agent).await?.agent;
        Ok(found.and_then(|config| config.webhook(service).cloned()))
    }
}
