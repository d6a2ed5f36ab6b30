//! Asks the deployment's own model servers how large their context windows are. Each maker has a
//! page of its own for that.

use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use reqwest::{Client, Url};
use serde_json::Value;
use smartspace_domain::providers::ProviderEntry;
use smartspace_ports::model_servers::ModelServers;

/// How long a server may take for a page.
const LIMIT: Duration = Duration::from_secs(2);

/// The pages that tell a window as it is served, in the order in which they are believed. A page
/// that begins with a slash is below the host, others are below the base URL.
const PAGES: [(&str, &[&str]); 4] = [
    // llama.cpp
    ("/props", &["/default_generation_settings/n_ctx"]),
    // Ollama: the models that are loaded
    ("/api/ps", &["/models/*/context_length"]),
    // LM Studio
    ("/api/v0/models", &["/data/*/loaded_context_length"]),
    // vLLM and others
    ("models", &["/data/*/max_model_len", "/data/*/context_window", "/data/*/context_length"]),
];

/// Asks over HTTP. The client follows no redirects.
pub(crate) struct HttpModelServers(pub(crate) Client);

#[async_trait]
impl ModelServers for HttpModelServers {
    async fn context_window(&self, provider: &ProviderEntry) -> Option<u32> {
        let base = provider.address()?;
        let windows = PAGES.map(|(page, fields)| {
            let address = page_of(&base, page);
            async move { smallest(&self.page(provider, address?).await?, fields) }
        });
        join_all(windows).await.into_iter().flatten().next()
    }
}

impl HttpModelServers {
    async fn page(&self, provider: &ProviderEntry, address: Url) -> Option<Value> {
        let request = self.0.get(address).timeout(LIMIT);
        let request = match &provider.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let response = request.send().await.ok()?.error_for_status().ok()?;
        response.json().await.ok()
    }
}

fn page_of(base: &Url, page: &str) -> Option<Url> {
    if page.starts_with('/') {
        return base.join(page).ok();
    }
    let mut address = base.clone();
    address.path_segments_mut().ok()?.pop_if_empty().push(page);
    Some(address)
}

/// The smallest figure that the first of the fields has. A `*` stands for each item of a list.
fn smallest(page: &Value, fields: &[&str]) -> Option<u32> {
    let found = |field: &&str| match field.split_once("/*") {
        Some((list, rest)) => {
            let items = page.pointer(list)?.as_array()?;
            items.iter().filter_map(|item| tokens(item.pointer(rest)?)).min()
        }
        None => tokens(page.pointer(field)?),
    };
    fields.iter().find_map(found)
}

fn tokens(figure: &Value) -> Option<u32> {
    figure.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use axum::{Json, Router, routing::get};
    use serde_json::json;
    use smartspace_domain::providers::ProviderApi;
    use tokio::net::TcpListener;

    use super::*;

    /// The window of a server that has one page.
    async fn window(path: &str, page: Value) -> Option<u32> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let routes = Router::new().route(path, get(async move || Json(page)));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let provider = ProviderEntry::of(ProviderApi::Openai).with(None, Some(&base));
        let client = Client::builder().no_proxy().build().unwrap();
        HttpModelServers(client).context_window(&provider).await
    }

    #[tokio::test]
    async fn each_makers_server_tells_its_window() {
        let props = json!({"default_generation_settings": {"n_ctx": 8192}});
        assert_eq!(window("/props", props).await, Some(8192));
        let loaded = json!({"models": [{"context_length": 4096}, {"context_length": 2048}]});
        assert_eq!(window("/api/ps", loaded).await, Some(2048));
        let studio = json!({"data": [{"state": "not-loaded", "max_context_length": 131_072},
            {"state": "loaded", "loaded_context_length": 4096}]});
        assert_eq!(window("/api/v0/models", studio).await, Some(4096));
        let vllm = json!({"data": [{"id": "qwen", "max_model_len": 32_768}]});
        assert_eq!(window("/v1/models", vllm).await, Some(32_768));
    }

    #[tokio::test]
    async fn a_server_that_tells_no_window_has_none() {
        let ids = json!({"data": [{"id": "mistral", "max_model_len": null}]});
        assert_eq!(window("/v1/models", ids).await, None);
        let nothing = ProviderEntry::of(ProviderApi::Openai).with(None, Some("http://127.0.0.1:1"));
        let servers = HttpModelServers(Client::builder().no_proxy().build().unwrap());
        assert_eq!(servers.context_window(&nothing).await, None);
    }
}
