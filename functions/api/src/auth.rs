//! Identifies the caller: the operator by the admin key, an entity by a token
//! ([`crate::tokens`]), or a remote agent by the token of its run. `smartspace_domain::access`
//! decides what the caller may do.

use std::{fmt, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};
use sha2::{Digest, Sha256};
use smartspace_domain::{
    Error, Result, Time,
    access::{Caller, guests_may_not},
    callbacks::is_like_a_token,
    entities::{EntitySettings, EntityType},
    ids::{EntityId, RunId, SpaceId},
    invites::{GuestToken, InvitePolicy},
};
use smartspace_store::{entities::External, runs::RunRecord};
use subtle::ConstantTimeEq;

use crate::{
    Api, SourceAddress,
    answers::Refusal,
    input::Id,
    metering::Charged,
    tokens::{Subject, Tokens},
};

/// The operator's key. It holds only a hash, so the key can't be printed.
#[derive(Clone)]
pub struct AdminKey([u8; 32]);

impl AdminKey {
    /// Hashes the key.
    pub fn new(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// A number that only this deployment can compute: 128 bits of a hash over the key and `parts`.
    pub(crate) fn derive(&self, parts: &[&str]) -> u128 {
        let mut digest = Sha256::new_with_prefix(self.0);
        for part in parts {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part.as_bytes());
        }
        let hash = digest.finalize();
        let mut first = [0; 16];
        first.copy_from_slice(&hash[..16]);
        u128::from_be_bytes(first)
    }

    /// Compares in constant time.
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

/// The caller of a request and the expiry of its credential. A route that takes neither this nor
/// [`Authenticated`] is open to everyone. One that takes this is open to guests, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credential {
    pub(crate) caller: Caller,
    /// `None` never expires.
    pub(crate) until: Option<Time>,
    /// The space of a guest.
    pub(crate) guest_of: Option<SpaceId>,
}

/// The caller of a request, which is no guest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Authenticated(pub(crate) Caller);

impl FromRequestParts<Arc<Api>> for Credential {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let credential = bearer(parts)?;
        // The admin key first: comparing it is cheap, and it is never a valid token.
        if api.admin_key.is(credential) {
            return Ok(Self { caller: Caller::Operator, until: None, guest_of: None });
        }
        if is_like_a_token(credential) {
            let text = "the token of a run opens the callbacks of that run only";
            return Err(unauthenticated(text).into());
        }
        if GuestToken::is_like(credential) {
            return Ok(api.guest(parts, credential).await?);
        }
        let Some(tokens) = &api.tokens else {
            return Err(unauthenticated(
                "the bearer credential is not the admin key, and this server accepts no tokens",
            )
            .into());
        };
        let subject = tokens.verify(credential, api.pipeline.now()).await?;
        let until = Some(subject.until);
        let caller = Caller::Entity(api.counted_entity(parts, tokens, subject).await?);
        Ok(Self { caller, until, guest_of: None })
    }
}

impl FromRequestParts<Arc<Api>> for Authenticated {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let credential = Credential::from_request_parts(parts, api).await?;
        match credential.guest_of {
            None => Ok(Self(credential.caller)),
            Some(_) => Err(guests_may_not().into()),
        }
    }
}

/// The run that a remote agent works on. Its token opens the routes of that run that take this, and
/// no other route. It is valid after the end of the run, too, so that the agent learns of the end.
#[derive(Clone, Debug)]
pub(crate) struct RemoteAgent(pub(crate) RunRecord);

impl FromRequestParts<Arc<Api>> for RemoteAgent {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        // A token that fits no run tells nothing of runs.
        let wrong = || unauthenticated("expected the token that the webhook of this run carried");
        let token = bearer(parts)?.to_owned();
        if !is_like_a_token(&token) {
            return Err(wrong().into());
        }
        let Id(run): Id<RunId> = Id::from_request_parts(parts, api).await?;
        let run = match api.pipeline.store.runs().record(run).await {
            Err(Error::NotFound(_)) => return Err(wrong().into()),
            found => found?,
        };
        let is_valid = run.remote.as_ref().is_some_and(|remote| {
            api.callback_key.accepts(&token, run.id, &remote.lease, remote.until)
        });
        if !is_valid {
            return Err(wrong().into());
        }
        Ok(Self(run))
    }
}

/// The bearer credential of a request.
fn bearer(parts: &Parts) -> Result<&str> {
    let header = parts
        .headers
        .get(header::AUTHORIZATION)
        .ok_or_else(|| unauthenticated("expected an Authorization header with a bearer token"))?;
    let (scheme, credential) =
        header.to_str().ok().and_then(|value| value.split_once(' ')).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unauthenticated("expected `Authorization: Bearer <key or token>`"));
    }
    Ok(credential.trim())
}

/// The entity that a token names by its external id.
fn signed_in(found: External) -> Result<EntityId> {
    if found.is_closed {
        let text = "tokens can't name this agent by its externalId: its signIn is false";
        return Err(unauthenticated(text));
    }
    Ok(found.entity_id)
}

fn unauthenticated(text: impl Into<String>) -> Error {
    Error::Unauthenticated(text.into())
}

impl Api {
    /// Counts a call, and lets the caller be charged for its answer.
    async fn count(&self, parts: &Parts, caller: Caller) -> Result<()> {
        self.pipeline.count_call(caller).await?;
        if let Some(charged) = parts.extensions.get::<Charged>() {
            charged.to(caller);
        }
        Ok(())
    }

    /// Counts a request from an address whose token opens nothing.
    pub(crate) async fn count_refused(&self, address: Option<SourceAddress>) -> Result<()> {
        match address {
            Some(address) => self.pipeline.count_refused(&address.network()).await,
            None => Ok(()),
        }
    }

    /// The guest with a token.
    async fn guest(&self, parts: &Parts, token: &str) -> Result<Credential> {
        let over = || unauthenticated("this guest's access has ended; ask for another invite");
        if self.invites != InvitePolicy::Guests {
            return Err(unauthenticated("this deployment has no guests"));
        }
        let opened = match GuestToken::read(token) {
            Some(token) => {
                let guest = self.pipeline.store.invites().guest(&token, self.pipeline.now());
                guest.await?.map(|guest| (token, guest))
            }
            None => None,
        };
        let Some((token, guest)) = opened else {
            self.count_refused(parts.extensions.get().copied()).await?;
            return Err(over());
        };
        let caller = Caller::Entity(guest.id);
        self.count(parts, caller).await?;
        Ok(Credential { caller, until: Some(guest.until), guest_of: Some(token.space) })
    }

    /// The entity that a token belongs to, whose call is counted.
    async fn counted_entity(
        &self,
        parts: &Parts,
        tokens: &Tokens,
        subject: Subject,
    ) -> Result<EntityId> {
        if !EntitySettings::is_like_an_id(&subject.id) {
            let id = self.entity_of(tokens, subject).await?;
            self.count(parts, Caller::Entity(id)).await?;
            return Ok(id);
        }
        let id: Option<EntityId> = subject.id.parse().ok().filter(|_| tokens.may_name_ids());
        let nobody =
            || unauthenticated(format!("no entity has the id or externalId {:?}", subject.id));
        let id = id.ok_or_else(nobody)?;
        let counted = self.count(parts, Caller::Entity(id));
        match futures::join!(self.pipeline.store.entities().get(id), counted) {
            (Err(Error::NotFound(_)), _) => Err(nobody()),
            (Ok(entity), _) if entity.guest_of.is_some() => Err(unauthenticated(
                "this entity is a guest, who calls with the token of its invite",
            )),
            (found, counted) => found.and_then(|entity| counted.map(|()| entity.id)),
        }
    }

    /// The entity with the `externalId` that a token names. A retired entity has lost its own, so
    /// no token belongs to it.
    async fn entity_of(&self, tokens: &Tokens, subject: Subject) -> Result<EntityId> {
        let store = &self.pipeline.store;
        if let Some(known) = store.entities().with_external_id(&subject.id).await? {
            return signed_in(known);
        }
        if !tokens.make_people() {
            return Err(unauthenticated(format!("no entity has externalId {:?}", subject.id)));
        }
        let now = self.pipeline.now();
        let id = EntityId::new(now, self.pipeline.ids.random());
        let Subject { id: external_id, name, .. } = subject;
        let person = EntitySettings {
            kind: EntityType::Human,
            name,
            external_id: Some(external_id.clone()),
            agent: None,
        };
        match store.entities().create(id, person, None, now).await {
            Ok(made) => Ok(made.id),
            // Another first call of this person came at the same time and created it.
            Err(Error::Conflict(text)) => {
                let made = store.entities().with_external_id(&external_id).await?;
                signed_in(made.ok_or(Error::Retry(text))?)
            }
            Err(error) => Err(error),
        }
    }
}
