//! Authenticates requests by the token of an entity, and serves the metadata by which clients find
//! the identity provider that issues tokens.
//!
//! The admin key is refused, because each adapter acts as an entity. If people sign in with an
//! identity provider, the metadata of a protected resource (RFC 9728) names it. MCP clients read
//! the metadata after a 401.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use smartspace_client::{Client as ApiClient, Refusal, Session as ApiSession};
use smartspace_domain::ids::EntityId;
use smartspace_web::{PublicAddress, may_come_from};
use tokio::time::Instant;

use crate::problems::ProblemResponse;

/// The resource that the metadata describes.
const RESOURCE: &str = "/v1/mcp";
/// The path of the metadata.
const METADATA: &str = "/.well-known/oauth-protected-resource/v1/mcp";

/// The headers of a request that are sent on to the API: the credential, the depth of the chain of
/// agents, and the trace. Without the depth, agents could call each other through an adapter
/// without end.
const FORWARDED: [HeaderName; 3] = [
    header::AUTHORIZATION,
    HeaderName::from_static("smartspace-chain-depth"),
    HeaderName::from_static("traceparent"),
];

#[derive(Clone, Debug)]
pub(crate) struct Authenticator {
    pub(crate) api: ApiClient,
    pub(crate) origins: Arc<[String]>,
    pub(crate) tokens: Arc<TokenCache>,
    /// Whether [`metadata_routes`] are served.
    pub(crate) has_metadata: bool,
    pub(crate) public_address: PublicAddress,
}

/// The entity that makes the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallerId(pub(crate) EntityId);

/// Passes on a request with the token of an entity, unless it comes from a page of a foreign
/// origin. The handler finds the [`ApiSession`] and the [`CallerId`] among the extensions.
pub(crate) async fn authenticate(
    State(authenticator): State<Authenticator>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers().clone();
    match authenticator.run(request, next).await {
        Ok(response) => response,
        Err(refusal) => authenticator.refuse(&headers, refusal),
    }
}

impl Authenticator {
    async fn run(&self, mut request: Request, next: Next) -> Result<Response, Refusal> {
        let headers = request.headers();
        if !may_come_from(headers, &self.origins) {
            let detail = "pages of this origin may not call this; --cors-origin (on AWS \
                          AllowedOrigins) allows them";
            return Err(Refusal::new(403, detail));
        }
        let Some(credential) = headers.get(header::AUTHORIZATION) else {
            let detail = "expected the header Authorization: Bearer with the token of an entity";
            return Err(Refusal::new(401, detail));
        };
        let api = self.session(headers);
        let Some(caller) = self.entity_of(credential, &api).await? else {
            let detail = "expected the token of an entity, got the admin key";
            return Err(Refusal::new(403, detail));
        };
        request.extensions_mut().insert(api);
        request.extensions_mut().insert(CallerId(caller));
        Ok(next.run(request).await)
    }

    fn session(&self, headers: &HeaderMap) -> ApiSession {
        let mut forwarded = HeaderMap::new();
        for name in FORWARDED {
            for value in headers.get_all(&name) {
                forwarded.append(&name, value.clone());
            }
        }
        let session = self.api.session_with_headers(forwarded);
        session.with_public_url(self.public_address.http(headers))
    }

    /// The entity that the credential belongs to. `None` for the admin key.
    async fn entity_of(
        &self,
        credential: &HeaderValue,
        api: &ApiSession,
    ) -> Result<Option<EntityId>, Refusal> {
        let hash = Sha256::digest(credential).into();
        if let Some(entity) = self.tokens.get(&hash) {
            return Ok(Some(entity));
        }
        let entity = api.entity().await?;
        if let Some(entity) = entity {
            self.tokens.add(hash, entity);
        }
        Ok(entity)
    }

    /// The value of `WWW-Authenticate` in the response to a request without a token.
    fn challenge(&self, headers: &HeaderMap) -> String {
        format!("Bearer resource_metadata=\"{}{METADATA}\"", self.public_address.http(headers))
    }

    fn refuse(&self, headers: &HeaderMap, refusal: Refusal) -> Response {
        let mut response = ProblemResponse::from(refusal).into_response();
        if response.status() == StatusCode::UNAUTHORIZED {
            let challenge = self.has_metadata.then(|| self.challenge(headers));
            let challenge = challenge.and_then(|text| HeaderValue::from_str(&text).ok());
            let challenge = challenge.unwrap_or_else(|| HeaderValue::from_static("Bearer"));
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    pub(crate) issuer: String,
    pub(crate) public_address: PublicAddress,
}

/// The entities of recent credentials, by the hashes of these.
///
/// The cache saves one call of `GET /v1/me` per request. It grants nothing: the API checks the
/// credential again in each call that an adapter makes.
#[derive(Debug, Default)]
pub(crate) struct TokenCache(Mutex<HashMap<CredentialHash, (EntityId, Instant)>>);

type CredentialHash = [u8; 32];

impl TokenCache {
    const TTL: Duration = Duration::from_mins(1);
    const MAX_ENTRIES: usize = 10_000;

    fn get(&self, credential: &CredentialHash) -> Option<EntityId> {
        let tokens = self.lock();
        let (entity, since) = tokens.get(credential)?;
        (since.elapsed() < Self::TTL).then_some(*entity)
    }

    fn add(&self, credential: CredentialHash, entity: EntityId) {
        let mut tokens = self.lock();
        if tokens.len() >= Self::MAX_ENTRIES {
            tokens.clear();
        }
        tokens.insert(credential, (entity, Instant::now()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CredentialHash, (EntityId, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The route of the metadata, which needs no token.
pub(crate) fn metadata_routes(metadata: Metadata) -> Router {
    Router::new().route(METADATA, get(show_metadata)).with_state(metadata)
}

async fn show_metadata(State(metadata): State<Metadata>, headers: HeaderMap) -> Json<Value> {
    Json(json!({
        "resource": format!("{}{RESOURCE}", metadata.public_address.http(&headers)),
        "authorization_servers": [metadata.issuer],
        "bearer_methods_supported": ["header"],
    }))
}
