//! Who asks. What they may do then is decided in `smartspace_domain::access`.

use std::{fmt, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};
use sha2::{Digest, Sha256};
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    ids::SpaceId,
};
use subtle::ConstantTimeEq;

use crate::{Api, answers::Refusal};

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

/// The caller of a request. A route that does not take it is open to everyone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By(pub(crate) Caller);

impl FromRequestParts<Arc<Api>> for By {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = parts
            .headers
            .get(header::AUTHORIZATION)
            .ok_or_else(|| unauthenticated("expected an Authorization header with a bearer token"))?;
        let token = token.to_str().ok().and_then(|value| value.split_once(' '));
        match token {
            Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && api.admin_key.is(key.trim()) => Ok(Self(Caller::Operator)),
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("bearer") => Err(unauthenticated("this is not the admin key")),
            _ => Err(unauthenticated("expected `Authorization: Bearer <key>`")),
        }
    }
}

fn unauthenticated(text: &str) -> Refusal {
    Refusal(Error::Unauthenticated(text.into()))
}

impl Api {
    /// Checks that a caller may do something in a space. The operator is told by what follows whether there is such a space.
    pub(crate) async fn authorise(&self, caller: Caller, action: SpaceAction, space: SpaceId) -> Result<()> {
        let role = match caller {
            Caller::Operator => None,
            Caller::Entity(entity) => self.pipeline.store.member(space, entity).await?.map(|member| member.role),
        };
        caller.may_in_space(action, role)
    }
}
