//! Writes the card by which A2A clients find an agent: its abilities and its address.

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{attachments::FileType, ids::EntityId};

use crate::a2a::VERSION;

/// The part of the API's answer about an open agent that is used here.
#[derive(Debug, Deserialize)]
pub(super) struct OpenAgent {
    pub(super) id: EntityId,
    pub(super) name: String,
    description: String,
}

/// The card of an agent, for a caller that reaches this deployment at `address`.
pub(super) fn agent_card(agent: &OpenAgent, address: &str) -> Value {
    let OpenAgent { id, name, description } = agent;
    let description =
        if description.is_empty() { format!("The agent {name}") } else { description.clone() };
    // Text and JSON are among the types of files.
    let modes: Vec<_> = FileType::names().collect();
    json!({
        "name": name,
        "description": description,
        "version": env!("CARGO_PKG_VERSION"),
        "supportedInterfaces": [{
            "url": format!("{address}/v1/agents/{id}/a2a"),
            "protocolBinding": "JSONRPC",
            "protocolVersion": VERSION,
        }],
        "capabilities": {"streaming": true, "pushNotifications": false, "extendedAgentCard": false},
        "securitySchemes": {
            "token": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
        },
        "securityRequirements": [{"schemes": {"token": {"list": []}}}],
        "defaultInputModes": modes,
        "defaultOutputModes": modes,
        "skills": [{"id": "chat", "name": name, "description": description, "tags": ["chat"]}],
    })
}
