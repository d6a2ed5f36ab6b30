//! The card of an agent: what it can, and where it is called.

use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{attachments::FileType, ids::EntityId};
use smartspace_web::host_address;

use crate::a2a::VERSION;

/// What the API says of an open agent.
#[derive(Debug, Deserialize)]
pub(super) struct AboutAgent {
    pub(super) id: EntityId,
    pub(super) name: String,
    description: String,
}

/// The card of an agent, for a request with these headers.
pub(super) fn card_of(agent: &AboutAgent, headers: &HeaderMap) -> Value {
    let AboutAgent { id, name, description } = agent;
    let description =
        if description.is_empty() { format!("The agent {name}") } else { description.clone() };
    // Text and JSON are modes of files, too.
    let modes: Vec<_> = FileType::names().collect();
    json!({
        "name": name,
        "description": description,
        "version": env!("CARGO_PKG_VERSION"),
        "supportedInterfaces": [{
            "url": format!("{}/v1/agents/{id}/a2a", host_address("http", headers)),
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
