//! JWTs (RFC 7519): which are believed, and of whom they speak.
//!
//! A deployment believes either tokens that are signed with a secret (HS256), or those of an identity provider (RS256, ES256), whose keys
//! [`crate::token_keys`] holds. The algorithm is what the deployment says, never what a token says of itself.

use std::{sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use smartspace_domain::{Error, Result, Time, entities::check_name, errors::Faults, json};
use smartspace_edges::key_sets::KeySet;

use crate::token_keys::TokenKeys;

/// How far clocks may be apart: a token holds so much longer than its `exp`, and from so much earlier than its `nbf`.
const LEEWAY: Duration = Duration::from_secs(30);
/// A secret has at least as many bytes as its signatures (RFC 7518, 3.2).
const SECRET_BYTES: usize = 32;
/// A token has at most so many bytes.
const TOKEN_BYTES: usize = 8 * 1024;
/// The beginning of the year 9000: a year is written with four digits, and what is later is as good as for ever.
const LAST_SECOND: f64 = 221_845_392_000.0;

/// Which tokens are believed, and what becomes of a person whom nobody knows yet.
#[derive(Clone, Debug)]
pub struct Tokens {
    trust: Trust,
    make_people: bool,
}

#[derive(Clone, Debug)]
enum Trust {
    /// Its Debug form shows no secret.
    Secret(DecodingKey),
    Provider {
        keys: Arc<TokenKeys>,
        issuer: String,
        audience: String,
    },
}

/// Of whom a token speaks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subject {
    /// Its `sub`: 1 to 256 characters.
    pub(crate) id: String,
    /// How a new person is called: the token's `name` where it has one that fits, else the beginning of its `sub`.
    pub(crate) name: String,
    /// Until when the token holds.
    pub(crate) until: Time,
}

/// What a token says. Times may have a fraction.
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
    /// Tokens that are signed with a secret of at least 32 bytes. With `make_people` a `sub` that nobody has becomes a person.
    pub fn signed_with(secret: &str, make_people: bool) -> std::result::Result<Self, String> {
        if secret.len() < SECRET_BYTES {
            return Err(format!("expected at least {SECRET_BYTES} bytes, got {}", secret.len()));
        }
        Ok(Self { trust: Trust::Secret(DecodingKey::from_secret(secret.as_bytes())), make_people })
    }

    /// Tokens of a provider that publishes its keys at `keys`, made by `issuer` for `audience`.
    pub fn of_provider(keys: Arc<dyn KeySet>, issuer: String, audience: String, make_people: bool) -> Self {
        Self { trust: Trust::Provider { keys: Arc::new(TokenKeys::new(keys)), issuer, audience }, make_people }
    }

    /// Whether a `sub` that nobody has becomes a person.
    pub(crate) fn make_people(&self) -> bool {
        self.make_people
    }

    /// Whether a `sub` may be one of our ids: who has the secret is trusted with them, another's provider is not.
    pub(crate) fn may_name_ids(&self) -> bool {
        matches!(self.trust, Trust::Secret(_))
    }

    /// Believes a token, or says why not ([`Error::Unauthenticated`]). [`Error::Retry`] where the provider's keys can't be read.
    pub(crate) async fn verify(&self, token: &str, now: Time) -> Result<Subject> {
        let header = Some(token)
            .filter(|token| token.len() <= TOKEN_BYTES)
            .filter(|token| is_plain(token))
            .and_then(|token| decode_header(token).ok());
        let header = header.ok_or_else(|| refused("this is neither the admin key nor a JWT that can be read"))?;
        if header.crit.is_some() {
            return Err(refused("the token has critical headers, and none is known here"));
        }
        let claims = match &self.trust {
            Trust::Secret(key) => signed(token, key, Algorithm::HS256)?,
            Trust::Provider { keys, issuer, audience } => {
                if !matches!(header.alg, Algorithm::RS256 | Algorithm::ES256) {
                    return Err(refused("the token must be signed by RS256 or ES256"));
                }
                let keys = keys.fitting(header.alg, header.kid.as_deref(), now).await?;
                let claims = keys.iter().map(|key| signed(token, key, header.alg)).find(Result::is_ok);
                let claims = claims.unwrap_or_else(|| Err(refused("the token's signature does not fit")))?;
                if claims.iss.as_deref() != Some(issuer) {
                    return Err(refused("the token's iss is not the issuer that is expected"));
                }
                if !claims.aud.as_ref().is_some_and(|aud| aud.has(audience)) {
                    return Err(refused("the token's aud does not name the audience that is expected"));
                }
                claims
            }
        };
        claims.subject(now)
    }
}

/// What a token says, if `key` signed it by `algorithm`. Its times are not looked at: the library knows only its own clock.
fn signed(token: &str, key: &DecodingKey, algorithm: Algorithm) -> Result<Claims> {
    let mut only = Validation::new(algorithm);
    only.required_spec_claims.clear();
    (only.validate_exp, only.validate_nbf, only.validate_aud) = (false, false, false);
    let token = decode::<Claims>(token, key, &only).map_err(|error| {
        use jsonwebtoken::errors::ErrorKind::{InvalidAlgorithm, InvalidSignature};
        match error.kind() {
            InvalidAlgorithm => refused(&format!("the token must be signed by {algorithm:?}")),
            InvalidSignature => refused("the token's signature does not fit"),
            _ => refused("the token's claims can't be read"),
        }
    })?;
    Ok(token.claims)
}

impl Claims {
    fn subject(self, now: Time) -> Result<Subject> {
        let time = |seconds: f64| Time::from_millis((seconds.clamp(0.0, LAST_SECOND) * 1_000.0) as i64);
        let until = time(self.exp.ok_or_else(|| refused("the token has no exp"))?) + LEEWAY;
        if until <= now {
            return Err(refused("the token has expired"));
        }
        if self.nbf.is_some_and(|nbf| time(nbf) > now + LEEWAY) {
            return Err(refused("the token is not valid yet"));
        }
        let id = self.sub.filter(|sub| (1..=256).contains(&sub.chars().count()) && !sub.contains('\0'));
        let id = id.ok_or_else(|| refused("expected a token with a sub of 1 to 256 characters"))?;
        let fits = |name: &String| {
            let mut faults = Faults::default();
            check_name(&mut faults, name);
            faults.done().is_ok()
        };
        let named = self.name.as_ref().and_then(serde_json::Value::as_str).map(str::to_owned).filter(fits);
        let name = named.or_else(|| Some(id.chars().take(128).collect()).filter(fits)).unwrap_or_else(|| "Someone".into());
        Ok(Subject { id, name, until })
    }
}

/// Whether what a token says is JSON that anybody may send: who reads it next does not look.
fn is_plain(token: &str) -> bool {
    let plain = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).is_ok_and(|text| json::parse(text).is_ok());
    token.split('.').take(2).all(plain)
}

fn refused(text: &str) -> Error {
    Error::Unauthenticated(text.into())
}

#[cfg(test)]
mod tests;
