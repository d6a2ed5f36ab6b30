//! JWTs (RFC 7519): verifies a token and reads its subject.
//!
//! A deployment accepts either tokens that are signed with a secret (HS256), or tokens of an
//! identity provider (RS256, ES256), whose keys [`crate::token_keys`] caches. The deployment fixes
//! the algorithms; a token never chooses its own.

use std::{sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use smartspace_domain::{Error, Result, Time, json, names::Name};
use smartspace_ports::key_sets::KeySet;

use crate::token_keys::TokenKeys;

/// The accepted clock difference: a token is valid this much longer than its `exp`, and this much
/// earlier than its `nbf`.
const LEEWAY: Duration = Duration::from_secs(30);
/// The least length of a secret in bytes: that of its signatures (RFC 7518, 3.2).
const SECRET_BYTES: usize = 32;
/// The greatest length of a token in bytes.
const TOKEN_BYTES: usize = 8 * 1024;
/// The start of the year 9000, the latest expiry that is used: a written year has four digits.
const LAST_SECOND: f64 = 221_845_392_000.0;

/// Which tokens are accepted, and whether an unknown subject becomes a new person.
#[derive(Clone, Debug)]
pub struct Tokens {
    trust: Trust,
    make_people: bool,
}

#[derive(Clone, Debug)]
enum Trust {
    /// The Debug form of the key shows no secret.
    Secret(DecodingKey),
    Provider {
        keys: Arc<TokenKeys>,
        issuer: String,
        audience: String,
    },
}

/// The subject of a valid token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subject {
    /// The `sub` claim, 1 to 256 characters.
    pub(crate) id: String,
    /// The name for a new person: the `name` claim if it is a valid name, or else the beginning of
    /// `sub`.
    pub(crate) name: String,
    /// The expiry of the token, with the leeway.
    pub(crate) until: Time,
}

/// The claims of a token. Times may have a fraction.
#[derive(Deserialize)]
struct Claims {
    sub: Option<String>,
    exp: Option<f64>,
    nbf: Option<f64>,
    iss: Option<String>,
    aud: Option<Audience>,
    #[serde(default)]
    name: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Audience {
    fn has(&self, audience: &str) -> bool {
        match self {
            Self::One(one) => one == audience,
            Self::Many(many) => many.iter().any(|one| one == audience),
        }
    }
}

impl Tokens {
    /// Accepts tokens that are signed with a secret of at least 32 bytes. With `make_people`, an
    /// unknown `sub` becomes a new person.
    pub fn signed_with(secret: &str, make_people: bool) -> std::result::Result<Self, String> {
        if secret.len() < SECRET_BYTES {
            return Err(format!("expected at least {SECRET_BYTES} bytes, got {}", secret.len()));
        }
        Ok(Self { trust: Trust::Secret(DecodingKey::from_secret(secret.as_bytes())), make_people })
    }

    /// Accepts tokens that `issuer` makes for `audience`. `keys` reads the keys that it publishes.
    pub fn of_provider(
        keys: Arc<dyn KeySet>,
        issuer: String,
        audience: String,
        make_people: bool,
    ) -> Self {
        Self {
            trust: Trust::Provider { keys: Arc::new(TokenKeys::new(keys)), issuer, audience },
            make_people,
        }
    }

    /// Whether an unknown `sub` becomes a new person.
    pub(crate) fn make_people(&self) -> bool {
        self.make_people
    }

    /// Whether a `sub` may be the id of an entity. The holder of our secret may name any entity; an
    /// external provider may not.
    pub(crate) fn may_name_ids(&self) -> bool {
        matches!(self.trust, Trust::Secret(_))
    }

    /// Verifies a token. Fails with [`Error::Unauthenticated`] if the token is not acceptable, and
    /// with [`Error::Retry`] if the provider's keys can't be read.
    pub(crate) async fn verify(&self, token: &str, now: Time) -> Result<Subject> {
        let header = Some(token)
            .filter(|token| token.len() <= TOKEN_BYTES)
            .filter(|token| is_plain(token))
            .and_then(|token| decode_header(token).ok());
        let header =
            header.ok_or_else(|| refused("expected the admin key or a JWT that can be read"))?;
        if header.crit.is_some() {
            return Err(refused("the token has critical headers (crit), which are not supported"));
        }
        let claims = match &self.trust {
            Trust::Secret(key) => signed(token, key, Algorithm::HS256)?,
            Trust::Provider { keys, issuer, audience } => {
                if !matches!(header.alg, Algorithm::RS256 | Algorithm::ES256) {
                    return Err(refused("the token must be signed with RS256 or ES256"));
                }
                let keys = keys.fitting(header.alg, header.kid.as_deref(), now).await?;
                let claims =
                    keys.iter().map(|key| signed(token, key, header.alg)).find(Result::is_ok);
                let claims = claims
                    .unwrap_or_else(|| Err(refused("the signature of the token is not valid")))?;
                if claims.iss.as_deref() != Some(issuer) {
                    return Err(refused("the token's iss is not the expected issuer"));
                }
                if !claims.aud.as_ref().is_some_and(|aud| aud.has(audience)) {
                    return Err(refused("the token's aud does not contain the expected audience"));
                }
                claims
            }
        };
        claims.subject(now)
    }
}

/// The claims of a token, if `key` signed it with `algorithm`. The times are checked later: the
/// library would use the system's clock instead of ours.
fn signed(token: &str, key: &DecodingKey, algorithm: Algorithm) -> Result<Claims> {
    let mut signature_only = Validation::new(algorithm);
    signature_only.required_spec_claims.clear();
    signature_only.validate_exp = false;
    signature_only.validate_nbf = false;
    signature_only.validate_aud = false;
    let token = decode::<Claims>(token, key, &signature_only).map_err(|error| {
        use jsonwebtoken::errors::ErrorKind::{InvalidAlgorithm, InvalidSignature};
        match error.kind() {
            InvalidAlgorithm => refused(&format!("the token must be signed with {algorithm:?}")),
            InvalidSignature => refused("the signature of the token is not valid"),
            _ => refused("the token's claims can't be read"),
        }
    })?;
    Ok(token.claims)
}

impl Claims {
    fn subject(self, now: Time) -> Result<Subject> {
        let time =
            |seconds: f64| Time::from_millis((seconds.clamp(0.0, LAST_SECOND) * 1_000.0) as i64);
        let until = time(self.exp.ok_or_else(|| refused("the token has no exp"))?) + LEEWAY;
        if until <= now {
            return Err(refused("the token has expired"));
        }
        if self.nbf.is_some_and(|nbf| time(nbf) > now + LEEWAY) {
            return Err(refused("the token is not valid yet"));
        }
        let id =
            self.sub.filter(|sub| (1..=256).contains(&sub.chars().count()) && !sub.contains('\0'));
        let id = id.ok_or_else(|| refused("expected a token with a sub of 1 to 256 characters"))?;
        let claimed = self.name.as_ref().and_then(serde_json::Value::as_str);
        let beginning: String = id.chars().take(128).collect();
        let name = claimed
            .and_then(Name::seen_in)
            .or_else(|| Name::seen_in(&beginning))
            .unwrap_or_else(|| "Someone".into());
        Ok(Subject { id, name, until })
    }
}

/// Whether header and claims of a token are plain JSON. The JWT library does not check that.
fn is_plain(token: &str) -> bool {
    let plain = |part: &str| {
        BASE64_URL_SAFE_NO_PAD.decode(part).is_ok_and(|text| json::parse(text).is_ok())
    };
    token.split('.').take(2).all(plain)
}

fn refused(text: &str) -> Error {
    Error::Unauthenticated(text.into())
}

#[cfg(test)]
mod tests;
