//! `/v1/providers`: the providers of models that agents may name.

use std::sync::Arc;

use axum::{Json, extract::State};
use futures::future::join_all;
use serde::Serialize;
use smartspace_domain::providers::{ProviderApi, ProviderEntry, ProviderName};
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
};

pub(super) fn routes() -> Routes {
    routes![list]
}

#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProviderList {
    /// All of them, in the order of their names.
    items: Vec<Provider>,
}

/// A provider of models. Its key is never shown.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Provider {
    name: ProviderName,
    /// What it speaks.
    api: ProviderApi,
    /// The host of its server, with the port if it is not the usual one. Null if it is not called
    /// over HTTP, or if its address is not valid.
    #[schema(required)]
    host: Option<String>,
    /// Whether a key is set. `bedrock` uses AWS credentials, and `scripted` needs none.
    has_key: bool,
    /// Whether the server is the deployment's own.
    own: bool,
    /// The most tokens of a request and its answer, if the server is the deployment's own and tells
    /// it; null on AWS, where servers are not asked. Of several models the smallest figure.
    #[schema(required)]
    context_window: Option<u32>,
}

/// List the providers of models
///
/// Agents and routers name one of them. Only the operator's configuration adds providers.
#[utoipa::path(
    get, path = "/v1/providers", operation_id = "listProviders", tag = "service",
    responses((status = 200, body = ProviderList))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
) -> ApiResult<Json<ProviderList>> {
    caller.must_be_operator()?;
    let items = api.providers.iter().map(async |(name, entry)| {
        let shown = shown(name, entry);
        let servers = &api.model_servers;
        let context_window = if shown.own { servers.context_window(entry).await } else { None };
        Provider { context_window, ..shown }
    });
    Ok(Json(ProviderList { items: join_all(items).await }))
}

fn shown(name: &ProviderName, entry: &ProviderEntry) -> Provider {
    let host = entry.address().and_then(|address| {
        let host = address.host_str()?;
        Some(address.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    });
    Provider {
        name: name.clone(),
        api: entry.api,
        host,
        has_key: entry.key.is_some(),
        own: entry.is_own(),
        context_window: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use smartspace_domain::providers::Providers;

    use super::*;

    fn row(name: &str, api: &str, host: Option<&str>, has_key: bool, own: bool) -> Value {
        json!({"name": name, "api": api, "host": host, "hasKey": has_key, "own": own,
            "contextWindow": null})
    }

    #[test]
    fn a_provider_is_shown_without_its_key() {
        let entries = r#"{"providers": {
            "ollama": {"api": "openai", "baseUrl": "http://user:pass@localhost:11434/v1"},
            "groq": {"api": "openai", "baseUrl": "https://api.groq.test/v1", "key": "sk-secret"},
            "lost": {"api": "anthropic", "key": "${secret.NONE}"}
        }}"#;
        let missing = |name: &str, _: &str| Err(format!("the secret {name} is not set here"));
        let providers = Providers::read(entries).unwrap().resolved(&missing);
        let items: Vec<_> = providers.iter().map(|(name, entry)| shown(name, entry)).collect();
        let expected = json!([
            row("anthropic", "anthropic", Some("api.anthropic.com"), false, false),
            row("bedrock", "bedrock", None, false, false),
            row("groq", "openai", Some("api.groq.test"), true, false),
            row("lost", "anthropic", Some("api.anthropic.com"), false, false),
            row("ollama", "openai", Some("localhost:11434"), false, true),
            row("openai", "openai", Some("api.openai.com"), false, false),
            row("scripted", "scripted", None, false, false),
        ]);
        assert_eq!(serde_json::to_value(items).unwrap(), expected);
    }
}
