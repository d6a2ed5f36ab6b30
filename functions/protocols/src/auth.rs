//! Identifies whoever comes through a door: an entity, by its token. The operator's key opens no
//! door, because a door speaks in the name of an entity.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use smartspace_domain::ids::EntityId;
use smartspace_web::may_come_from;
use tokio::time::Instant;

use crate::{
    api_client::{OurApi, Refusal, Visitor},
    input::whole,
    oauth,
    open_calls::OpenCalls,
};

/// Decides which requests a door admits.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    pub(crate) api: OurApi,
    pub(crate) origins: Arc<[String]>,
    pub(crate) admitted: Arc<Admitted>,
    pub(crate) open: OpenCalls,
    /// Whether there is metadata that says where to get a token.
    pub(crate) has_metadata: bool,
}

/// The entity that came through a door.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Me(pub(crate) EntityId);

/// Lets a request in if it has the token of an entity and comes from no foreign page. The handler
/// finds its [`Visitor`] and [`Me`] among the extensions.
pub(crate) async fn admit(
    State(admission): State<Admission>,
    request: Request,
    next: Next,
) -> Response {
    if !may_come_from(request.headers(), &admission.origins) {
        return admission.refused(
            &request,
            Refusal::new(
                403,
                "pages of this origin may not call this; --cors-origin (on AWS AllowedOrigins) \
                 allows them",
            ),
        );
    }
    let Some(credential) = request.headers().get(header::AUTHORIZATION) else {
        return admission.refused(
            &request,
            Refusal::new(
                401,
                "expected the header Authorization: Bearer with the token of an entity",
            ),
        );
    };
    let visitor = admission.api.visitor(request.headers());
    match admission.admits(credential, &visitor).await {
        Ok(Some(me)) => {
            // A body that still arrives takes a place, so that nobody fills the memory with them.
            let call = match admission.open.open(me) {
                Ok(call) => call,
                Err(refusal) => return admission.refused(&request, refusal),
            };
            let mut request = match whole(request).await {
                Ok(request) => request,
                Err(refusal) => return refusal.into_response(),
            };
            request.extensions_mut().insert(visitor);
            request.extensions_mut().insert(Me(me));
            call.until_end_of(next.run(request).await)
        }
        Ok(None) => admission.refused(
            &request,
            Refusal::new(403, "the admin key opens no protocol; expected the token of an entity"),
        ),
        Err(refusal) => admission.refused(&request, refusal),
    }
}

/// The credentials that were admitted a short while ago, by their hashes. The API checks them at
/// each call anyway; this saves asking it whose they are.
#[derive(Debug, Default)]
pub(crate) struct Admitted(Mutex<HashMap<CredentialHash, (EntityId, Instant)>>);

type CredentialHash = [u8; 32];

impl Admitted {
    const LASTS: Duration = Duration::from_mins(1);
    const MOST: usize = 10_000;

    fn get(&self, credential: &CredentialHash) -> Option<EntityId> {
        let admitted = self.lock();
        let (entity, since) = admitted.get(credential)?;
        (since.elapsed() < Self::LASTS).then_some(*entity)
    }

    fn add(&self, credential: CredentialHash, entity: EntityId) {
        let mut admitted = self.lock();
        if admitted.len() >= Self::MOST {
            admitted.clear();
        }
        admitted.insert(credential, (entity, Instant::now()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CredentialHash, (EntityId, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    /// The entity whose token the credential is. `None` if it is the operator's key.
    async fn admits(
        &self,
        credential: &HeaderValue,
        visitor: &Visitor,
    ) -> Result<Option<EntityId>, Refusal> {
        let hash = Sha256::digest(credential).into();
        if let Some(entity) = self.admitted.get(&hash) {
            return Ok(Some(entity));
        }
        let entity = visitor.entity().await?;
        if let Some(entity) = entity {
            self.admitted.add(hash, entity);
        }
        Ok(entity)
    }

    fn refused(&self, request: &Request, refusal: Refusal) -> Response {
        let mut response = refusal.into_response();
        if response.status() == StatusCode::UNAUTHORIZED {
            let challenge = Some(oauth::challenge(request.headers())).filter(|_| self.has_metadata);
            let challenge = challenge.and_then(|text| HeaderValue::from_str(&text).ok());
            let challenge = challenge.unwrap_or_else(|| HeaderValue::from_static("Bearer"));
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
