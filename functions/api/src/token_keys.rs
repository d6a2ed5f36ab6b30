//! The keys of an identity provider, as last read.
//!
//! They survive a rotation (a `kid` that is not known has them read again) and a provider that is slow or down (those that are known are used
//! on, for hours). They are read by one at a time and seldom, whatever strangers send. Nobody waits for a reading who has a fitting key.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::{Error, Result, Time, json};
use smartspace_edges::key_sets::{KeySet, KeySetError};

/// Keys are read again after it, so that a provider can withdraw one.
const FRESH: Duration = Duration::from_mins(10);
/// Keys that could not be read again for so long are believed no more.
const BELIEVED: Duration = Duration::from_hours(6);
/// The shortest time from one reading to the next.
const READ_AGAIN: Duration = Duration::from_secs(5);

/// A provider's keys.
pub(crate) struct TokenKeys {
    set: Arc<dyn KeySet>,
    known: Mutex<Known>,
    /// Held by whoever reads.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Default)]
struct Known {
    keys: Arc<[Key]>,
    /// When the reading began that gave them.
    read_at: Option<Time>,
    /// When the last reading began.
    tried_at: Option<Time>,
    /// The last reading has not ended, or not well.
    failed: bool,
}

/// A key that verifies, and what it is for.
struct Key {
    kid: Option<String>,
    algorithm: Algorithm,
    verifier: DecodingKey,
}

impl TokenKeys {
    pub(crate) fn new(set: Arc<dyn KeySet>) -> Self {
        Self { set, known: Mutex::default(), reading: Arc::default() }
    }

    /// The keys that a token of this algorithm may be signed with: the one with its `kid`, or all where it has none.
    /// [`Error::Unauthenticated`] where there is none, [`Error::Retry`] where that is not known, as the provider does not answer.
    pub(crate) async fn fitting(self: &Arc<Self>, algorithm: Algorithm, kid: Option<&str>, now: Time) -> Result<Vec<DecodingKey>> {
        let known = self.known();
        let found = known.fitting(algorithm, kid, now);
        if !found.is_empty() && known.read_at.is_some_and(|at| apart(at, now) < FRESH) {
            return Ok(found);
        }
        if found.is_empty() {
            // Whoever comes while they are read waits for that one reading.
            let turn = Arc::clone(&self.reading).lock_owned().await;
            self.read(turn, now).await;
        } else if let Ok(turn) = Arc::clone(&self.reading).try_lock_owned() {
            self.read(turn, now).await;
        }
        let known = self.known();
        let found = known.fitting(algorithm, kid, now);
        match (found.is_empty(), known.failed) {
            (false, _) => Ok(found),
            (true, true) => Err(Error::Retry("the keys of the token's provider can't be read just now".into())),
            (true, false) => Err(Error::Unauthenticated("the token is signed with a key that its provider does not publish".into())),
        }
    }

    /// Reads the keys again, unless that was done just now. In a task of its own: a caller that goes away in the middle must not undo it.
    async fn read(self: &Arc<Self>, turn: tokio::sync::OwnedMutexGuard<()>, now: Time) {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.tried_at.is_some_and(|at| apart(at, now) < READ_AGAIN) {
                return;
            }
            (known.tried_at, known.failed) = (Some(now), true);
        }
        let keys = Arc::clone(self);
        let reading = tokio::spawn(async move {
            match keys.set.read().await.and_then(|text| keys_of(&text)) {
                Ok(read) => {
                    let mut known = keys.known.lock().unwrap_or_else(PoisonError::into_inner);
                    (known.keys, known.read_at, known.failed) = (read.into(), Some(now), false);
                }
                Err(error) => {
                    tracing::warn!(event = "key_set_unread", %error, "the keys of tokens could not be read; those known are used on");
                }
            }
            drop(turn);
        });
        if let Err(error) = reading.await {
            tracing::error!(%error, "the reading of the keys of tokens broke off");
        }
    }

    fn known(&self) -> Known {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Known {
    fn fitting(&self, algorithm: Algorithm, kid: Option<&str>, now: Time) -> Vec<DecodingKey> {
        if self.read_at.is_none_or(|at| apart(at, now) >= BELIEVED) {
            return Vec::new();
        }
        let fits = |key: &&Key| key.algorithm == algorithm && kid.is_none_or(|kid| key.kid.as_deref() == Some(kid));
        self.keys.iter().filter(fits).map(|key| key.verifier.clone()).collect()
    }
}

/// How far two times lie apart: a clock that was set back must not stop the reading for good.
fn apart(one: Time, other: Time) -> Duration {
    one.since(other).max(other.since(one))
}

#[derive(Deserialize)]
struct Published {
    keys: Vec<Value>,
}

/// The keys of a published set that verify tokens. What else a provider publishes, for encryption or other algorithms, is passed over;
/// above all a secret, which anybody could have read there.
fn keys_of(text: &str) -> Result<Vec<Key>, KeySetError> {
    let refused = |error: serde_json::Error| KeySetError(format!("it is no key set: {error}"));
    let published: Published = json::parse(text).and_then(serde_json::from_value).map_err(refused)?;
    Ok(published.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).filter_map(|key: Jwk| key_of(&key)).collect())
}

fn key_of(jwk: &Jwk) -> Option<Key> {
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => Algorithm::ES256,
        _ => return None,
    };
    let common = &jwk.common;
    let for_signatures = common.public_key_use.as_ref().is_none_or(|its| *its == PublicKeyUse::Signature)
        && common.key_operations.as_ref().is_none_or(|its| its.contains(&KeyOperations::Verify))
        && common.key_algorithm.is_none_or(|its| its.to_string() == format!("{algorithm:?}"));
    let verifier = DecodingKey::from_jwk(jwk).ok().filter(|_| for_signatures)?;
    Some(Key { kid: common.key_id.clone(), algorithm, verifier })
}

impl fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenKeys").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
