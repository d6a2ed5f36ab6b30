//! Who asks: the operator, by the admin key, or an entity, by a token ([`crate::tokens`]). What they may do then is decided in
//! `smartspace_domain::access`.

use std::{fmt, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};
use sha2::{Digest, Sha256};
use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    entities::{EntitySettings, EntityType},
    ids::EntityId,
};
use subtle::ConstantTimeEq;

use crate::{
    Api,
    answers::Refusal,
    tokens::{Subject, Tokens},
};

/// The operator's key. Only its hash is held, and it can't be printed.
#[derive(Clone)]
pub struct AdminKey([u8; 32]);

impl AdminKey {
    /// From the key's text.
    pub fn new(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// Compares in a time that tells nothing.
    fn is(&self, key: &str) -> bool {
        let other: [u8; 32] = Sha256::digest(key.as_bytes()).into();
        self.0.ct_eq(&other).into()
    }
}

impl fmt::Debug for AdminKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminKey")
    }
}

/// The caller of a request, and until when its credential holds. A route that takes neither this nor [`By`] is open to everyone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed {
    pub(crate) caller: Caller,
    /// None: for ever.
    pub(crate) until: Option<Time>,
}

/// The caller of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By(pub(crate) Caller);

impl FromRequestParts<Arc<Api>> for Signed {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let sent = parts.headers.get(header::AUTHORIZATION);
        let sent = sent.ok_or_else(|| unauthenticated("expected an Authorization header with a bearer token"))?;
        let (scheme, credential) = sent.to_str().ok().and_then(|value| value.split_once(' ')).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(unauthenticated("expected `Authorization: Bearer <key or token>`").into());
        }
        let credential = credential.trim();
        // First of all: the admin key costs nothing to compare, and is nobody's token.
        if api.admin_key.is(credential) {
            return Ok(Self { caller: Caller::Operator, until: None });
        }
        let Some(tokens) = &api.tokens else { return Err(unauthenticated("this is not the admin key").into()) };
        let subject = tokens.verify(credential, api.pipeline.now()).await?;
        let until = Some(subject.until);
        let caller = Caller::Entity(api.entity_of(tokens, subject).await?);
        api.pipeline.count_call(caller).await?;
        Ok(Self { caller, until })
    }
}

impl FromRequestParts<Arc<Api>> for By {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        Signed::from_request_parts(parts, api).await.map(|signed| Self(signed.caller))
    }
}

fn unauthenticated(text: impl Into<String>) -> Error {
    Error::Unauthenticated(text.into())
}

impl Api {
    /// The entity that a token speaks for. Who is retired has given up its `externalId`, and is nobody's subject any more.
    async fn entity_of(&self, tokens: &Tokens, subject: Subject) -> Result<EntityId> {
        let store = &self.pipeline.store;
        if EntitySettings::is_like_an_id(&subject.id) {
            let id: Option<EntityId> = subject.id.parse().ok().filter(|_| tokens.may_name_ids());
            let nobody = || unauthenticated(format!("no entity has the id or externalId {:?}", subject.id));
            return match store.entity(id.ok_or_else(nobody)?).await {
                Err(Error::NotFound(_)) => Err(nobody()),
                found => found.map(|entity| entity.id),
            };
        }
        if let Some(known) = store.entity_with(&subject.id).await? {
            return Ok(known);
        }
        if !tokens.make_people() {
            return Err(unauthenticated(format!("no entity has externalId {:?}", subject.id)));
        }
        let (now, random) = (self.pipeline.now(), self.pipeline.ids.random());
        let Subject { id: external_id, name, .. } = subject;
        let person = EntitySettings { kind: EntityType::Human, name, external_id: Some(external_id.clone()), agent: None };
        match store.create_entity(EntityId::new(now, random), person, None, now).await {
            Ok(made) => Ok(made.id),
            // Its first two calls came at once: the other one has made it.
            Err(Error::Conflict(text)) => store.entity_with(&external_id).await?.ok_or(Error::Retry(text)),
            Err(error) => Err(error),
        }
    }
}
