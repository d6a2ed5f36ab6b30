//! Resources of the MCP server: each space with its last messages.

use rmcp::{
    ErrorData,
    model::{
        ListResourceTemplatesResult, ListResourcesResult, ReadResourceResponse, ReadResourceResult,
        Resource, ResourceContents, ResourceTemplate,
    },
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use smartspace_client::{Page, Refusal, Session as ApiSession, messages_path};
use smartspace_domain::ids::SpaceId;

/// How many messages of a space its resource contains.
const MAX_MESSAGES: u64 = 50;
/// The beginning of the addresses of all resources.
const URI_PREFIX: &str = "smartspace://spaces/";

#[derive(Debug, Deserialize)]
struct ListedSpace {
    id: SpaceId,
    name: String,
}

/// A page of the caller's spaces.
pub(super) async fn spaces<T: DeserializeOwned>(
    api: &ApiSession,
    cursor: Option<String>,
) -> Result<T, Refusal> {
    let query: Vec<_> = cursor.map(|cursor| ("cursor", cursor)).into_iter().collect();
    api.get("/v1/spaces", &query).await
}

/// Lists a page of the caller's spaces.
pub(super) async fn list(
    api: &ApiSession,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let page: Page<ListedSpace> = spaces(api, cursor).await.map_err(error_of)?;
    let resources = page.items.into_iter().map(|space| {
        Resource::new(format!("{URI_PREFIX}{}", space.id), space.name)
            .with_mime_type("application/json")
    });
    let mut listed = ListResourcesResult::with_all_items(resources.collect());
    listed.next_cursor = page.next_cursor;
    Ok(listed)
}

/// The template of the addresses.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(format!("{URI_PREFIX}{{spaceId}}"), "space")
        .with_description("A space with its members and its last messages")
        .with_mime_type("application/json");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// The space of a resource.
pub(super) fn space_of(uri: &str) -> Option<SpaceId> {
    uri.strip_prefix(URI_PREFIX)?.parse().ok()
}

/// Reads a space with its last messages.
pub(super) async fn read(api: &ApiSession, uri: String) -> Result<ReadResourceResponse, ErrorData> {
    let unknown = || {
        ErrorData::resource_not_found(
            format!("there is no such resource; expected {URI_PREFIX} and the id of a space"),
            Some(json!({"uri": uri})),
        )
    };
    let space = space_of(&uri).ok_or_else(unknown)?;
    let read = space_with_messages(api, space).await.map_err(|refusal| match refusal.status {
        404 => unknown(),
        _ => error_of(refusal),
    })?;
    let contents = ResourceContents::text(read.to_string(), uri).with_mime_type("application/json");
    Ok(ReadResourceResult::new(vec![contents]).into())
}

async fn space_with_messages(api: &ApiSession, id: SpaceId) -> Result<Value, Refusal> {
    let space: Value = api.get(&format!("/v1/spaces/{id}"), &[]).await?;
    let query = [("limit", MAX_MESSAGES.to_string())];
    let messages: Value = api.get(&messages_path(id), &query).await?;
    Ok(json!({"space": space, "messages": messages["items"]}))
}

/// A refusal as an error of JSON-RPC.
pub(super) fn error_of(refusal: Refusal) -> ErrorData {
    let mut data = json!({"status": refusal.status});
    if let Some(seconds) = refusal.retry_after {
        data["retryAfter"] = seconds.into();
    }
    match refusal.status {
        // The parameters are fine: the same request may succeed later.
        429 => ErrorData::internal_error(refusal.detail, Some(data)),
        400..500 => ErrorData::invalid_params(refusal.detail, Some(data)),
        _ => ErrorData::internal_error(refusal.detail, Some(data)),
    }
}
