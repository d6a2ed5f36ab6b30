//! Invites to spaces, and the guests who came by them. Of their tokens only hashes are stored.

mod guests;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, InviteId, SpaceId},
    invites::{Invite, InviteToken},
    spaces::Role,
    stored,
};

pub use self::guests::{Guest, GuestRecord, NewGuest};
use crate::{
    Error, Invites, Result,
    idempotency::PostKey,
    shared::member::MemberRecord,
    table::{
        Query, WriteError,
        indexes::KeyNames,
        keys,
        pages::{Page, PageRequest},
        read,
        write::Write,
    },
};

/// An invite, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InviteRecord {
    pub id: InviteId,
    pub space_id: SpaceId,
    /// The role of those who accept it.
    #[serde(deserialize_with = "stored::read")]
    pub role: Role,
    /// How often it may still be used.
    pub uses_left: u32,
    /// The hash of its token.
    pub token_hash: String,
    /// The entity that made it. `None` is the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<EntityId>,
    /// When it was made.
    pub created_at: Time,
    /// When it ends.
    pub until: Time,
    /// Whether it was revoked. It is stored until its end, so that revoking it may be repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
    /// When its item expires, in seconds since the epoch.
    pub expires_at: i64,
}

impl InviteRecord {
    /// The invite, as the API shows it. `maker` is the member that made it, if it is one still.
    pub fn view(&self, maker: Option<&MemberRecord>) -> Invite {
        let Self { id, space_id, role, uses_left, created_by, created_at, until, .. } = *self;
        let ended = self.has_lost_its_maker(maker);
        Invite { id, space_id, role, uses_left, created_by, created_at, expires_at: until, ended }
    }

    /// Whether the entity that made it is no owner any longer. One that becomes an owner again
    /// does not get its former invites back.
    pub(crate) fn has_lost_its_maker(&self, maker: Option<&MemberRecord>) -> bool {
        if self.created_by.is_none() {
            return false;
        }
        let owned = |member: &MemberRecord| {
            member.role == Role::Owner
                && member.owner_since.is_none_or(|since| since <= self.created_at)
        };
        !maker.is_some_and(owned)
    }

    /// Whether this is its token.
    pub fn is_opened_by(&self, token: &InviteToken) -> bool {
        self.token_hash == keys::hash(&["invite", &token.reveal()])
    }

    /// Whether it is neither revoked nor over.
    fn stands(&self, now: Time) -> bool {
        !self.revoked && self.until > now
    }

    /// The write of a transaction that uses it once.
    pub(crate) fn use_once(&self, now: Time) -> Result<Write> {
        let key = keys::invite(self.space_id, self.id);
        Write::update(key, "SET #usesLeft = #usesLeft - :one")
            .when("#usesLeft > :none AND #until > :now AND attribute_not_exists(#revoked)")
            .value(":one", 1)?
            .value(":none", 0)?
            .value(":now", now)
    }

    /// Checks that it can be used. `maker` is the member that made it, if it is one still.
    pub fn check(&self, maker: Option<&MemberRecord>) -> Result<()> {
        if self.has_lost_its_maker(maker) {
            return Err(no_such_invite());
        }
        if self.uses_left == 0 { Err(used_up()) } else { Ok(()) }
    }

    /// Why an invite can't be used. An invite that is over does not exist any longer.
    pub(crate) fn unusable(stored: Option<Self>) -> Error {
        match stored {
            Some(Self { revoked: false, uses_left: 0, .. }) => used_up(),
            _ => no_such_invite(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct NewInvite<'a> {
    pub token: &'a InviteToken,
    /// The entity that makes it. `None` is the operator.
    pub created_by: Option<EntityId>,
    /// How often it may be used.
    pub uses: u32,
    /// When it ends.
    pub until: Time,
}

impl Invites<'_> {
    /// Stores a new invite. If the `key` was used before, returns the invite that was made then.
    pub async fn create(
        self,
        new: &NewInvite<'_>,
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<InviteRecord> {
        let NewInvite { token, created_by, uses, until } = *new;
        let record = InviteRecord {
            id: token.invite,
            space_id: token.space,
            role: Role::Member,
            uses_left: uses,
            token_hash: keys::hash(&["invite", &token.reveal()]),
            created_by,
            created_at: now,
            until,
            revoked: false,
            expires_at: until.as_seconds() + 1,
        };
        let item = keys::invite(token.space, token.invite);
        let mut writes = vec![Write::put(item.clone(), &record)?.if_absent()];
        if let Some(key) = key {
            writes.push(key.write(&token.invite.to_string(), now)?);
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(record),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) if refusal.names(&item) => {
                refusal.existing(&item).ok_or_else(|| Error::Internal("an id was used".into()))
            }
            Err(WriteError::Refused(refusal)) => match PostKey::made(key, &refusal)? {
                Some(made) => self.of_space(token.space, made).await,
                None => Err(Error::Internal("a new invite was refused".into())),
            },
        }
    }

    /// An invite of a space, as it is stored. It may be over.
    pub async fn of_space(self, space: SpaceId, id: InviteId) -> Result<InviteRecord> {
        let record: Option<InviteRecord> = self.store.table.get(&keys::invite(space, id)).await?;
        record.ok_or_else(no_such_invite)
    }

    /// The invite of a token, if it can be used. A token of nothing, of a revoked and of an expired
    /// invite all look alike.
    pub async fn of_token(self, token: &InviteToken, now: Time) -> Result<InviteRecord> {
        let record = self.of_space(token.space, token.invite).await?;
        if record.is_opened_by(token) && record.stands(now) {
            Ok(record)
        } else {
            Err(no_such_invite())
        }
    }

    /// The invites of a space that stand, oldest first.
    pub async fn list(
        self,
        space: SpaceId,
        request: &PageRequest,
        now: Time,
    ) -> Result<Page<Invite>> {
        let roster = self.store.members().roster(space).await?;
        let partition = keys::invites(space);
        let query = Query::of(partition.clone())
            .limit(request.limit()?)
            .after(request.after(KeyNames::TABLE, &partition)?);
        let page = self.store.table.page(query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for item in page.items {
            let record: InviteRecord = read(item.clone())?;
            if record.stands(now) {
                let maker = record.created_by.and_then(|maker| roster.member(maker));
                items.push((item, record.view(maker)));
            }
        }
        Ok(Page::cut(items, page.next, KeyNames::TABLE.sk))
    }

    /// Revokes an invite. This may be repeated until the invite is over.
    pub async fn revoke(self, space: SpaceId, id: InviteId) -> Result<()> {
        let write = Write::update(keys::invite(space, id), "SET #revoked = :yes")
            .when("attribute_exists(PK)")
            .value(":yes", true)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(()),
            Err(WriteError::Refused(_)) => Err(no_such_invite()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// The answer to every token that opens nothing.
pub fn no_such_invite() -> Error {
    Error::NotFound("there is no such invite: it may have expired, or was revoked".into())
}

fn used_up() -> Error {
    Error::Conflict("the invite is used up: ask for another one".into())
}
