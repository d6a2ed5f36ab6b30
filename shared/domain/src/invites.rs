//! Invites: links by which people join a space, and the guests who come by them.
//!
//! An invite's token names its space and its invite, so both are found in one read. Only a hash of
//! a token is stored.

mod tokens;

use std::{ops::RangeInclusive, time::Duration};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::tokens::{GuestToken, InviteToken};
use crate::{
    Time,
    durations::WrittenDuration,
    errors::{Faults, Result},
    ids::{EntityId, InviteId, SpaceId},
    rates::Rate,
    schemas,
    spaces::Role,
};

/// How often one invite may be used.
pub const USES: RangeInclusive<u32> = 1..=100;
/// How long an invite may last.
pub const LONGEST: Duration = Duration::from_hours(7 * 24);
/// How long a guest's token lasts after its last use.
pub const GUEST_LASTS: Duration = Duration::from_hours(24);
/// How much longer a guest's token is stored to last, so that not each use has to store it again.
pub const GUEST_SPARE: Duration = Duration::from_hours(1);
/// The limit of acceptances of one invite.
pub const PER_INVITE: Rate = Rate { per_second: 2, burst: 100 };

/// Who may accept invites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvitePolicy {
    /// Nobody: there are no invites.
    Off,
    /// People with a token of their own.
    #[default]
    Members,
    /// These, and people without a credential, who become guests.
    Guests,
}

impl InvitePolicy {
    /// Reads a setting: `off`, `members` or `guests`.
    pub fn read(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "members" => Ok(Self::Members),
            "guests" => Ok(Self::Guests),
            other => Err(format!("expected off, members or guests, got {other:?}")),
        }
    }
}

/// An invite to a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invite {
    /// The invite's id.
    pub id: InviteId,
    /// The space.
    pub space_id: SpaceId,
    /// The role of those who accept it: `member`.
    pub role: Role,
    /// How often it may still be used.
    pub uses_left: u32,
    /// Who made it. Null if the operator did.
    #[schema(required)]
    pub created_by: Option<EntityId>,
    /// When it was made.
    pub created_at: Time,
    /// When it ends.
    pub expires_at: Time,
    /// True if its maker has stopped being an owner since, so nobody can use it. Revoking it still
    /// removes the guests who came by it.
    pub ended: bool,
}

/// The body of `POST /v1/spaces/{id}/invites`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewInvite {
    /// The role of those who accept it: `member`.
    #[serde(default)]
    #[schema(schema_with = schemas::only_member)]
    pub role: Option<Role>,
    /// When it ends: a duration like `2 hours` or `3 days`, at most `1 week`, which is the default.
    #[serde(default)]
    pub expires_after: Option<WrittenDuration>,
    /// How often it may be used, 1 to 100; once by default.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100, default = 1)]
    pub uses: Option<u32>,
}

impl NewInvite {
    /// How often it may be used, and how long it lasts. Reports all faults at once.
    pub fn checked(&self) -> Result<(u32, Duration)> {
        let mut faults = Faults::default();
        let uses = self.uses.unwrap_or(*USES.start());
        let lasts = self.expires_after.as_ref().map_or(LONGEST, WrittenDuration::length);
        faults.check(
            matches!(self.role, None | Some(Role::Member)),
            "role",
            "expected member: an owner makes a member an owner",
        );
        faults.check(USES.contains(&uses), "uses", format!("expected 1 to 100, got {uses}"));
        faults.check(lasts <= LONGEST, "expiresAfter", "expected at most 1 week");
        faults.done()?;
        Ok((uses, lasts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(body: serde_json::Value) -> Result<(u32, Duration)> {
        serde_json::from_value::<NewInvite>(body).unwrap().checked()
    }

    #[test]
    fn an_invite_is_used_once_and_lasts_a_week_unless_it_says_otherwise() {
        assert_eq!(checked(serde_json::json!({})), Ok((1, LONGEST)));
        let said = serde_json::json!({"uses": 100, "expiresAfter": "2 hours", "role": "member"});
        assert_eq!(checked(said), Ok((100, Duration::from_hours(2))));
    }

    #[test]
    fn all_faults_of_an_invite_are_reported() {
        let wrong = serde_json::json!({"uses": 101, "expiresAfter": "8 days", "role": "owner"});
        let faults = checked(wrong).unwrap_err().faults().unwrap();
        let pointers: Vec<_> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(pointers, ["/role", "/uses", "/expiresAfter"]);
        assert!(checked(serde_json::json!({"uses": 0})).is_err());
    }
}
