//! The secret tokens of invites and guests: a prefix, two ids and 128 random bits.

use std::fmt;

use ulid::Ulid;

use crate::ids::{EntityId, InviteId, SpaceId};

/// The characters of an id without its prefix, and of the secret part.
const PART: usize = 26;

/// The token of an invite. Everyone who has it may accept the invite.
#[derive(Clone, PartialEq, Eq)]
pub struct InviteToken {
    /// The space.
    pub space: SpaceId,
    /// The invite.
    pub invite: InviteId,
    secret: u128,
}

/// The token of a guest: its credential in the one space that it was invited to.
#[derive(Clone, PartialEq, Eq)]
pub struct GuestToken {
    /// The guest.
    pub guest: EntityId,
    /// The space.
    pub space: SpaceId,
    secret: u128,
}

impl InviteToken {
    const PREFIX: &str = "invite_";

    /// A token with this secret.
    pub fn new(space: SpaceId, invite: InviteId, secret: u128) -> Self {
        Self { space, invite, secret }
    }

    /// Reads a token. Returns `None` if the text is none.
    pub fn read(text: &str) -> Option<Self> {
        let [space, invite, secret] = parts(text.strip_prefix(Self::PREFIX)?)?;
        let space = format!("{}_{space}", SpaceId::PREFIX).parse().ok()?;
        let invite = format!("{}_{invite}", InviteId::PREFIX).parse().ok()?;
        Some(Self { space, invite, secret: secret_of(secret)? })
    }

    /// The text of the token.
    pub fn reveal(&self) -> String {
        let (space, invite) = (self.space.to_string(), self.invite.to_string());
        text(Self::PREFIX, &space, &invite, self.secret)
    }
}

impl GuestToken {
    const PREFIX: &str = "guest_";

    /// A token with this secret.
    pub fn new(guest: EntityId, space: SpaceId, secret: u128) -> Self {
        Self { guest, space, secret }
    }

    /// Whether a text is meant to be a guest's token.
    pub fn is_like(text: &str) -> bool {
        text.starts_with(Self::PREFIX)
    }

    /// Reads a token. Returns `None` if the text is none.
    pub fn read(text: &str) -> Option<Self> {
        let [guest, space, secret] = parts(text.strip_prefix(Self::PREFIX)?)?;
        let guest = format!("{}_{guest}", EntityId::PREFIX).parse().ok()?;
        let space = format!("{}_{space}", SpaceId::PREFIX).parse().ok()?;
        Some(Self { guest, space, secret: secret_of(secret)? })
    }

    /// The text of the token.
    pub fn reveal(&self) -> String {
        let (guest, space) = (self.guest.to_string(), self.space.to_string());
        text(Self::PREFIX, &guest, &space, self.secret)
    }
}

fn parts(text: &str) -> Option<[&str; 3]> {
    if !text.is_ascii() || text.len() != 3 * PART {
        return None;
    }
    Some([&text[..PART], &text[PART..2 * PART], &text[2 * PART..]])
}

/// A secret has only one spelling.
fn secret_of(text: &str) -> Option<u128> {
    let secret = Ulid::from_string(text).ok()?;
    (secret.to_string() == text).then_some(secret.0)
}

fn text(prefix: &str, first: &str, second: &str, secret: u128) -> String {
    let of_id = |id: &str| id.split_once('_').map(|(_, id)| id.to_owned()).unwrap_or_default();
    format!("{prefix}{}{}{}", of_id(first), of_id(second), Ulid(secret))
}

/// Shows no secret.
impl fmt::Debug for InviteToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InviteToken").field("invite", &self.invite).finish_non_exhaustive()
    }
}

/// Shows no secret.
impl fmt::Debug for GuestToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestToken").field("guest", &self.guest).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    const SECRET: u128 = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;

    #[test]
    fn a_token_is_read_as_it_was_written_and_not_shown_in_logs() {
        let at = Time::from_millis(1_771_427_220_000);
        let space = SpaceId::new(at, 1);
        let invite = InviteToken::new(space, InviteId::new(at, 2), SECRET);
        let guest = GuestToken::new(EntityId::new(at, 3), space, u128::MAX);
        assert_eq!(InviteToken::read(&invite.reveal()), Some(invite.clone()));
        assert_eq!(GuestToken::read(&guest.reveal()), Some(guest.clone()));
        let secret = Ulid(SECRET).to_string();
        assert!(invite.reveal().ends_with(&secret) && !format!("{invite:?}").contains(&secret));
        assert!(GuestToken::is_like(&guest.reveal()) && !GuestToken::is_like(&invite.reveal()));
    }

    #[test]
    fn a_text_that_is_not_exactly_a_token_is_none() {
        let at = Time::from_millis(1_771_427_220_000);
        let token = InviteToken::new(SpaceId::new(at, 1), InviteId::new(at, 2), SECRET).reveal();
        let changed = [
            token[1..].to_owned(),
            token[..token.len() - 1].to_owned(),
            format!("{token}0"),
            token.to_lowercase(),
            token.replacen("invite_", "guest_", 1),
            format!("{}é", &token[..token.len() - 2]),
        ];
        for text in changed {
            assert_eq!(InviteToken::read(&text), None, "{text}");
        }
    }
}
