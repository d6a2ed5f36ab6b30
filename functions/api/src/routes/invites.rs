//! Invites: owners make and revoke them, and a caller with a token joins its space.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{FromRequestParts, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error, Result, Time,
    access::{Caller, SpaceAction},
    entities::{Entity, EntityType},
    ids::{EntityId, InviteId, SpaceId},
    invites::{self, GuestToken, Invite, InvitePolicy, InviteToken},
    names::Name,
    spaces::Space,
};
use smartspace_store::{
    invites::{InviteRecord, NewInvite, no_such_invite},
    table::pages::Page,
};
use utoipa::{PartialSchema, ToSchema};

use super::PageQuery;
use crate::{
    Api, SourceAddress,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created, Refusal},
    auth::{Authenticated, Credential},
    description::IdempotencyKey,
    input::{Body, Id, Query, TwoIds, idempotency_key},
};

/// How long the idempotency key of a guest is at least. It must not be guessed: a caller
/// that repeats it gets the same guest.
const GUESTS_KEY_CHARS: usize = 16;

pub(super) fn routes() -> Routes {
    routes![create, list, revoke, accept, preview]
}

/// A new invite, with its token.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedInvite {
    #[serde(flatten)]
    invite: Invite,
    /// The secret of the invite. It is shown only here.
    token: String,
    /// The address of a page on which a person accepts the invite. It holds the token.
    url: String,
}

/// Invite people to a space
///
/// Everyone who has the token may join, as often as `uses` says. It ends when its maker stops being
/// an owner.
#[utoipa::path(
    post, path = "/v1/spaces/{id}/invites", operation_id = "createInvite", tag = "invites",
    params(("id" = SpaceId, Path), IdempotencyKey),
    request_body = Option<invites::NewInvite>,
    responses(
        (status = 201, body = CreatedInvite),
        (status = 409, description = "The key was used before the admin key was changed."),
    )
)]
async fn create(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(space): Id<SpaceId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<CreatedInvite>> {
    api.pipeline.authorise(caller, SpaceAction::Govern, space).await?;
    api.must_have_invites()?;
    let (uses, lasts) = body.read_or_nothing::<invites::NewInvite>()?.checked()?;
    let key = body.key(&headers, caller, &format!("/v1/spaces/{space}/invites"))?;
    let now = api.pipeline.now();
    let token_of = |id: InviteId, random: u128| {
        // A repeat with the same key gets the same token, which is not stored.
        let derive = |key: &str| api.admin_key.derive(&["invite", &id.to_string(), key]);
        let secret = key.as_ref().map_or(random, |key| derive(&key.key));
        InviteToken::new(space, id, secret)
    };
    let own = InviteId::new(now, api.pipeline.ids.random());
    let mut token = token_of(own, api.pipeline.ids.random());
    let new = NewInvite { token: &token, created_by: caller.entity(), uses, until: now + lasts };
    let store = &api.pipeline.store;
    store.spaces().record(space).await?;
    let maker = match new.created_by {
        Some(maker) => store.members().get(space, maker).await?,
        None => None,
    };
    let record = store.invites().create(&new, key.as_ref(), now).await?;
    if record.id != own {
        token = token_of(record.id, 0);
        if !record.is_opened_by(&token) {
            let text = "the invite of this Idempotency-Key can't show its token again";
            return Err(Error::Conflict(text.into()).into());
        }
    }
    let token = token.reveal();
    Ok(Created {
        location: format!("/v1/spaces/{space}/invites/{}", record.id),
        made: CreatedInvite {
            url: format!("{}/#invite={token}", api.public_address.http(&headers)),
            invite: record.view(maker.as_ref()),
            token,
        },
    })
}

/// List the invites of a space
///
/// Those that have not expired; the oldest comes first. For owners.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/invites", operation_id = "listInvites", tag = "invites",
    params(("id" = SpaceId, Path), PageQuery),
    responses((status = 200, body = Page<Invite>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(space): Id<SpaceId>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Invite>>> {
    api.pipeline.authorise(caller, SpaceAction::Govern, space).await?;
    let store = &api.pipeline.store;
    store.spaces().record(space).await?;
    Ok(Json(store.invites().list(space, &query.into(), api.pipeline.now()).await?))
}

/// Revoke an invite
///
/// Nobody can use it any longer, and the guests who came by it leave the space. People who accepted
/// it with an account stay members. The call may be repeated until the invite would have expired.
#[utoipa::path(
    delete, path = "/v1/spaces/{id}/invites/{inviteId}", operation_id = "revokeInvite",
    tag = "invites",
    params(("id" = SpaceId, Path), ("inviteId" = InviteId, Path)),
    responses((status = 204))
)]
async fn revoke(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(space, invite): TwoIds<SpaceId, InviteId>,
) -> ApiResult<StatusCode> {
    api.pipeline.revoke_invite(caller, space, invite).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Acceptance {
    /// The invite's token.
    token: String,
    /// The name of a guest. A caller with a credential keeps its own.
    #[serde(default)]
    #[schema(schema_with = Name::schema, required = false)]
    name: Option<String>,
}

/// Where somebody who accepted an invite is now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AcceptedInvite {
    /// The space.
    space: Space,
    /// The entity that has joined it.
    entity: Entity,
    /// A guest's credential: a bearer token for this one space. Each use lets it last for another
    /// day.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// When the token ends, unless it is used before.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
}

/// Accept an invite
///
/// A caller with a credential joins the space; if it is a member already, the invite is not used.
/// Without a credential, and if the deployment has guests, the caller becomes a person who may only
/// be in this space. With an `Idempotency-Key` of at least 16 characters a repeat gives the same
/// guest.
#[utoipa::path(
    post, path = "/v1/invites/accept", operation_id = "acceptInvite", tag = "invites",
    security((), ("bearer" = [])),
    params(IdempotencyKey),
    request_body = Acceptance,
    responses(
        (status = 200, body = AcceptedInvite),
        (status = 401, description = "The credential is wrong, or there is none and the \
            deployment has no guests."),
        (status = 403, description = "The caller accepts no invites: it is an agent, the operator, \
            or a guest of another space; or the deployment has no invites."),
        (status = 404, description = "No invite has this token, or it has expired, was revoked \
            or has ended."),
        (status = 409, description = "The invite is used up, the space is full, the caller is in \
            too many spaces, or a guest's name looks like another member's. The text then has a \
            name that is free."),
        (status = 429, description = "Too many wrong tokens from this address, or too many tries \
            of this invite."),
        (status = 500),
        (status = 503),
    )
)]
async fn accept(
    State(api): State<Arc<Api>>,
    SomeCredential(credential): SomeCredential,
    address: Option<Extension<SourceAddress>>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Json<AcceptedInvite>> {
    api.must_have_invites()?;
    let address = address.map(|Extension(address)| address);
    let Acceptance { token, name } = body.read()?;
    let Some(token) = InviteToken::read(&token) else {
        api.count_refused(address).await?;
        return Err(no_such_invite().into());
    };
    let acceptance = Pending { api: &api, token: &token, address };
    let accepted = match credential {
        Some(credential) => Box::pin(acceptance.join(credential)).await?,
        None => Box::pin(acceptance.become_guest(name.as_deref(), &headers)).await?,
    };
    Ok(Json(accepted))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShownInvite {
    /// The invite's token.
    token: String,
}

/// Where an invite leads.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct InvitePreview {
    /// The name of the space.
    space_name: String,
    /// The name of the member that made the invite. Null if the operator did.
    #[schema(required)]
    invited_by: Option<String>,
    /// How many people are in the space.
    people: usize,
    /// The names of its agents.
    agents: Vec<String>,
    /// When the invite ends.
    expires_at: Time,
}

/// Preview an invite
///
/// Where the invite leads, before somebody accepts it. It needs no credential and uses nothing. Its
/// limits are those of accepting.
#[utoipa::path(
    post, path = "/v1/invites/preview", operation_id = "previewInvite", tag = "invites",
    security((), ("bearer" = [])),
    request_body = ShownInvite,
    responses(
        (status = 200, body = InvitePreview),
        (status = 401, description = "The credential is wrong."),
        (status = 403, description = "The deployment has no invites."),
        (status = 404, description = "No invite has this token, or it has expired, was revoked \
            or has ended."),
        (status = 409, description = "The invite is used up."),
        (status = 429, description = "Too many wrong tokens from this address, or too many tries \
            of this invite."),
        (status = 500),
        (status = 503),
    )
)]
async fn preview(
    State(api): State<Arc<Api>>,
    SomeCredential(_): SomeCredential,
    address: Option<Extension<SourceAddress>>,
    body: Body,
) -> ApiResult<Json<InvitePreview>> {
    api.must_have_invites()?;
    let address = address.map(|Extension(address)| address);
    let ShownInvite { token } = body.read()?;
    let Some(token) = InviteToken::read(&token) else {
        api.count_refused(address).await?;
        return Err(no_such_invite().into());
    };
    let invite = Pending { api: &api, token: &token, address }.invite().await?;
    let store = &api.pipeline.store;
    let space = Box::pin(store.spaces().record(invite.space_id));
    let found = futures::try_join!(space, store.members().roster(invite.space_id));
    let (space, roster) = found.map_err(|error| match error {
        // It was deleted at the same time.
        Error::NotFound(_) => no_such_invite(),
        error => error,
    })?;
    let maker = invite.created_by.and_then(|maker| roster.member(maker));
    invite.check(maker)?;
    let of_kind = |kind| roster.members.iter().filter(move |member| member.kind == kind);
    Ok(Json(InvitePreview {
        space_name: space.settings.name,
        invited_by: maker.map(|maker| maker.name.clone()),
        people: of_kind(EntityType::Human).count(),
        agents: of_kind(EntityType::Agent).map(|agent| agent.name.clone()).collect(),
        expires_at: invite.until,
    }))
}

/// The acceptance of one invite.
struct Pending<'a> {
    api: &'a Api,
    token: &'a InviteToken,
    address: Option<SourceAddress>,
}

impl Pending<'_> {
    /// The invite of the token. Only who has the right token can use up its rate.
    async fn invite(&self) -> Result<InviteRecord> {
        let pipeline = &self.api.pipeline;
        let invite = match pipeline.store.invites().of_token(self.token, pipeline.now()).await {
            Err(error @ Error::NotFound(_)) => {
                self.api.count_refused(self.address).await?;
                return Err(error);
            }
            found => found?,
        };
        pipeline.count(&format!("invite {}", self.token.invite), invites::PER_INVITE).await?;
        Ok(invite)
    }

    /// Lets a caller with a credential join.
    async fn join(&self, credential: Credential) -> Result<AcceptedInvite> {
        let Credential { caller, guest_of, .. } = credential;
        let entity = caller.may_accept_invite()?;
        if guest_of.is_some_and(|space| space != self.token.space) {
            return Err(Error::Forbidden(
                "a guest may be in one space only; accept this invite without the guest's token"
                    .into(),
            ));
        }
        let invite = self.invite().await?;
        self.api.pipeline.accept_invite(&invite, entity).await?;
        self.accepted(entity, None).await
    }

    /// Makes a guest.
    async fn become_guest(
        &self,
        name: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<AcceptedInvite> {
        if self.api.invites != InvitePolicy::Guests {
            return Err(Error::Unauthenticated(
                "this deployment has no guests: accept the invite with a bearer token".into(),
            ));
        }
        let key = idempotency_key(headers)?;
        if key.as_ref().is_some_and(|key| key.as_str().len() < GUESTS_KEY_CHARS) {
            return Err(Error::Malformed(format!(
                "Idempotency-Key: expected at least {GUESTS_KEY_CHARS} characters, such as a \
                 random UUID: it is all that tells this guest from others"
            )));
        }
        let invite = self.invite().await?;
        let random = || self.api.pipeline.ids.random();
        let derive =
            |of: &str, key: &str| self.api.admin_key.derive(&[of, &self.token.reveal(), key]);
        let (id, secret) = match &key {
            Some(key) => (derive("guest", key.as_str()), derive("token", key.as_str())),
            None => (random(), random()),
        };
        let guest = EntityId::new(invite.created_at, id);
        let token = GuestToken::new(guest, invite.space_id, secret);
        let until = self.api.pipeline.welcome_guest(&invite, &token, name).await?;
        self.accepted(guest, Some((token.reveal(), until))).await
    }

    async fn accepted(
        &self,
        entity: EntityId,
        token: Option<(String, Time)>,
    ) -> Result<AcceptedInvite> {
        let store = &self.api.pipeline.store;
        let caller = Caller::Entity(entity);
        let space = Box::pin(store.spaces().seen_by(self.token.space, caller));
        let found = futures::try_join!(space, store.entities().get(entity));
        let (space, entity) = found.map_err(|error| match error {
            Error::NotFound(_) => Error::Conflict("the caller was removed at the same time".into()),
            error => error,
        })?;
        let (token, expires_at) = token.unzip();
        Ok(AcceptedInvite { space, entity: entity.seen_by(caller), token, expires_at })
    }
}

/// The credential of a request that may have none. A wrong one is refused.
struct SomeCredential(Option<Credential>);

impl FromRequestParts<Arc<Api>> for SomeCredential {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        if !parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(Self(None));
        }
        Credential::from_request_parts(parts, api).await.map(Some).map(Self)
    }
}

impl Api {
    fn must_have_invites(&self) -> Result<()> {
        match self.invites {
            InvitePolicy::Off => Err(Error::Forbidden("this deployment has no invites".into())),
            InvitePolicy::Members | InvitePolicy::Guests => Ok(()),
        }
    }
}
