//! Writes the card by which A2A clients find an agent: its abilities and its address.

use axum::{
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::{FileType, Sha256Hex},
    ids::EntityId,
};

use crate::a2a::VERSION;

/// How long a client may use a card without asking again. Only callers with a token get one.
const CACHING: &str = "private, max-age=60";

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

/// The response with a card, without the card if the client has it already.
pub(super) fn card_response(card: &Value, request: &HeaderMap) -> Response {
    let text = card.to_string();
    let tag = format!("\"{}\"", Sha256Hex::of(text.as_bytes()).as_str());
    let headers: [(HeaderName, &str); 3] = [
        (header::CACHE_CONTROL, CACHING),
        (header::ETAG, tag.as_str()),
        (header::VARY, "authorization"),
    ];
    if has_tag(request, &tag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Whether the client says that it has what this tag names (RFC 9110, 13.1.2). A proxy may have
/// made the tag weak.
fn has_tag(request: &HeaderMap, tag: &str) -> bool {
    let values = request.get_all(header::IF_NONE_MATCH).iter();
    let tags = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    tags.map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;
    use crate::samples::at;

    fn response(description: &str, known: Option<&str>) -> Response {
        let id = EntityId::new(at(), 1);
        let agent = OpenAgent { id, name: "Guide".into(), description: description.into() };
        let known = known.map(|tag| (header::IF_NONE_MATCH, tag.parse().unwrap()));
        let request = HeaderMap::from_iter(known);
        card_response(&agent_card(&agent, "https://team.example"), &request)
    }

    #[tokio::test]
    async fn a_client_gets_a_card_again_only_if_it_has_changed() {
        let first = response("Knows the garden", None);
        assert_eq!(first.status(), 200);
        assert_eq!(first.headers()[header::CACHE_CONTROL], "private, max-age=60");
        assert_eq!(first.headers()[header::CONTENT_TYPE], "application/json");
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        let body = to_bytes(first.into_body(), 10_000).await.unwrap();
        let card: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(card["name"], "Guide");
        for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".into()] {
            let again = response("Knows the garden", Some(&known));
            assert_eq!(again.status(), 304, "{known}");
            assert_eq!(again.headers()[header::ETAG], *tag);
            assert!(to_bytes(again.into_body(), 10_000).await.unwrap().is_empty());
        }
        assert_eq!(response("Knows the weather", Some(&tag)).status(), 200);
        assert_eq!(response("Knows the garden", Some("\"other\"")).status(), 200);
    }
}
