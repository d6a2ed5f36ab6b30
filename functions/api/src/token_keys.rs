//! Caches the keys of an identity provider.
//!
//! A rotation needs no restart: an unknown `kid` causes the keys to be read again. A slow or
//! unreachable provider does not matter for hours: the cached keys stay in use. At most one read
//! runs at a time, and seldom, whatever tokens strangers send. A request whose key is cached never
//! waits for a read.

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
use smartspace_ports::key_sets::{KeySet, KeySetError};

/// Keys older than this are read again, so that a provider can withdraw one.
const FRESH: Duration = Duration::from_mins(10);
/// Keys older than this are no longer accepted.
const ACCEPTED: Duration = Duration::from_hours(6);
/// The shortest time between two reads.
const READ_AGAIN: Duration = Duration::from_secs(5);

pub(crate) struct TokenKeys {
    set: Arc<dyn KeySet>,
    known: Mutex<Known>,
    /// Locked during a read.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Default)]
struct Known {
    keys: Arc<[Key]>,
    /// The start of the read that returned `keys`.
    read_at: Option<Time>,
    /// The start of the last read.
    tried_at: Option<Time>,
    /// The last read failed or is still running.
    failed: bool,
}

struct Key {
    kid: Option<String>,
    algorithm: Algorithm,
    verifier: DecodingKey,
}

impl TokenKeys {
    pub(crate) fn new(set: Arc<dyn KeySet>) -> Self {
        Self { set, known: Mutex::default(), reading: Arc::default() }
    }

    /// The keys that a token with this algorithm may be signed with: the key with its `kid`, or all
    /// keys if it has no `kid`. Fails with [`Error::Unauthenticated`] if there is no such key, and
    /// with [`Error::Retry`] if the provider can't be read to find out.
    pub(crate) async fn fitting(
        self: &Arc<Self>,
        algorithm: Algorithm,
        kid: Option<&str>,
        now: Time,
    ) -> Result<Vec<DecodingKey>> {
        let known = self.known();
        let found = known.fitting(algorithm, kid, now);
        if !found.is_empty() && known.read_at.is_some_and(|at| apart(at, now) < FRESH) {
            return Ok(found);
        }
        if found.is_empty() {
            // Requests that come during a read wait for it instead of starting another.
            let turn = Arc::clone(&self.reading).lock_owned().await;
            self.read(turn, now).await;
        } else if let Ok(turn) = Arc::clone(&self.reading).try_lock_owned() {
            self.read(turn, now).await;
        }
        let known = self.known();
        let found = known.fitting(algorithm, kid, now);
        match (found.is_empty(), known.failed) {
            (false, _) => Ok(found),
            (true, true) => {
                Err(Error::Retry("the keys of the identity provider can't be read now".into()))
            }
            (true, false) => Err(Error::Unauthenticated(
                "the token is signed with a key that its provider does not publish".into(),
            )),
        }
    }

    /// Reads the keys again, unless the last read is recent. The read is a task of its own, so a
    /// caller that disconnects does not cancel it.
    async fn read(self: &Arc<Self>, turn: tokio::sync::OwnedMutexGuard<()>, now: Time) {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.tried_at.is_some_and(|at| apart(at, now) < READ_AGAIN) {
                return;
            }
            known.tried_at = Some(now);
            known.failed = true;
        }
        let keys = Arc::clone(self);
        let reading = tokio::spawn(async move {
            match keys.set.read().await.and_then(|text| keys_of(&text)) {
                Ok(read) => {
                    let mut known = keys.known.lock().unwrap_or_else(PoisonError::into_inner);
                    known.keys = read.into();
                    known.read_at = Some(now);
                    known.failed = false;
                }
                Err(error) => {
                    tracing::warn!(
                        event = "key_set_unread",
                        %error,
                        "the provider's keys could not be read; the cached keys stay in use"
                    );
                }
            }
            drop(turn);
        });
        if let Err(error) = reading.await {
            tracing::error!(%error, "the read of the provider's keys was aborted");
        }
    }

    fn known(&self) -> Known {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Known {
    fn fitting(&self, algorithm: Algorithm, kid: Option<&str>, now: Time) -> Vec<DecodingKey> {
        if self.read_at.is_none_or(|at| apart(at, now) >= ACCEPTED) {
            return Vec::new();
        }
        let fits = |key: &&Key| {
            key.algorithm == algorithm && kid.is_none_or(|kid| key.kid.as_deref() == Some(kid))
        };
        self.keys.iter().filter(fits).map(|key| key.verifier.clone()).collect()
    }
}

/// The distance of two times in either direction: after a clock is set back, keys must still be
/// read again.
fn apart(one: Time, other: Time) -> Duration {
    one.since(other).max(other.since(one))
}

#[derive(Deserialize)]
struct Published {
    keys: Vec<Value>,
}

/// The keys of a published set that verify tokens. Other keys, for encryption or with other
/// algorithms, are skipped. A symmetric key must be skipped: anybody could have read it there.
fn keys_of(text: &str) -> Result<Vec<Key>, KeySetError> {
    let refused =
        |error: serde_json::Error| KeySetError(format!("the answer is not a key set: {error}"));
    let published: Published =
        json::parse(text).and_then(serde_json::from_value).map_err(refused)?;
    Ok(published
        .keys
        .into_iter()
        .filter_map(|key| serde_json::from_value(key).ok())
        .filter_map(|key: Jwk| key_of(&key))
        .collect())
}

fn key_of(jwk: &Jwk) -> Option<Key> {
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
            Algorithm::ES256
        }
        _ => return None,
    };
    let common = &jwk.common;
    let for_signatures = common
        .public_key_use
        .as_ref()
        .is_none_or(|its| *its == PublicKeyUse::Signature)
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
