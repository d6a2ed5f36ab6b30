//! Guests: people without an account, who came by an invite. A guest's token is its credential in
//! its one space. It lasts as long as it is used, and ends when the guest leaves.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, InviteId, SpaceId},
    invites::{GUEST_LASTS, GUEST_SPARE, GuestToken},
};

use crate::{
    Invites, Result,
    entities::EntityRecord,
    shared::{member::MemberRecord, space::SpaceRecord},
    table::{keys, write::Write},
};

/// The credential of a guest, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuestRecord {
    /// The hash of the guest's token.
    token_hash: String,
    space_id: SpaceId,
    /// The invite by which the guest came.
    invite_id: InviteId,
    /// When the guest joined. One that was removed and added again is not this guest.
    joined_at: Time,
    /// When the token ends, unless it is used before.
    until: Time,
    /// When the item expires, in seconds since the epoch.
    expires_at: i64,
}

/// Somebody without an account who accepts an invite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGuest {
    /// The credential, which is stored with the guest.
    pub record: GuestRecord,
    /// Whether it gives no name.
    pub is_nameless: bool,
}

/// A guest whose token is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guest {
    pub id: EntityId,
    /// When its token ends, unless it is used before.
    pub until: Time,
}

impl GuestRecord {
    /// The credential of a guest who joins now.
    pub fn new(token: &GuestToken, invite: InviteId, now: Time) -> Self {
        let until = now + GUEST_LASTS + GUEST_SPARE;
        Self {
            token_hash: hash_of(token),
            space_id: token.space,
            invite_id: invite,
            joined_at: now,
            until,
            expires_at: until.as_seconds() + 1,
        }
    }

    /// When the token ends, unless it is used before.
    pub fn until(&self) -> Time {
        self.until
    }
}

impl Invites<'_> {
    /// The guest of a token, which this use makes last longer. `None` if the token opens nothing:
    /// it is unknown or over, or the guest has left its space.
    pub async fn guest(self, token: &GuestToken, now: Time) -> Result<Option<Guest>> {
        let credential_key = keys::guest(token.guest);
        let entity_key = keys::entity_meta(token.guest);
        let member_key = keys::member(token.space, token.guest);
        let space_key = keys::space_meta(token.space);
        let wanted =
            [credential_key.clone(), entity_key.clone(), member_key.clone(), space_key.clone()];
        let mut items = self.store.table.get_all(&wanted).await?;
        let credential: Option<GuestRecord> = items.take(&credential_key)?;
        let entity: Option<EntityRecord> = items.take(&entity_key)?;
        let member: Option<MemberRecord> = items.take(&member_key)?;
        let space: Option<SpaceRecord> = items.take(&space_key)?;
        if space.is_none_or(|space| space.deleted) {
            return Ok(None);
        }
        let Some((credential, (entity, member))) = credential.zip(entity.zip(member)) else {
            return Ok(None);
        };
        let is_valid = credential.token_hash == hash_of(token)
            && credential.space_id == token.space
            && credential.until > now
            && credential.joined_at == member.joined_at
            && entity.retired_at.is_none();
        if !is_valid {
            return Ok(None);
        }
        let until = self.prolong(token.guest, credential.until, now).await;
        Ok(Some(Guest { id: token.guest, until }))
    }

    /// Lets a token last longer. If that fails, the next use does it. Returns when it ends.
    async fn prolong(self, guest: EntityId, until: Time, now: Time) -> Time {
        if until >= now + GUEST_LASTS {
            return until;
        }
        let later = now + GUEST_LASTS + GUEST_SPARE;
        let write = Write::update(keys::guest(guest), "SET #until = :later, #expiresAt = :expires")
            .when("#until < :later")
            .value(":later", later)
            .and_then(|write| write.value(":expires", later.as_seconds() + 1));
        match write {
            Ok(write) => match self.store.table.write(write).await {
                Ok(_) => later,
                Err(error) => {
                    tracing::debug!(%guest, ?error, "a guest's token was not prolonged");
                    until
                }
            },
            Err(_) => until,
        }
    }
}

fn hash_of(token: &GuestToken) -> String {
    keys::hash(&["guest", &token.reveal()])
}
