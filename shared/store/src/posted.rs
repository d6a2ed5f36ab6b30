//! Idempotency keys: the same POST twice makes one thing.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smartspace_domain::{Time, limits::KEY_KEPT};

use crate::{Error, Result, Store, keys, refusal::Refusal, write::Write};

/// A caller's key for one POST, and the hash of what it sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostKey {
    /// hash(caller, method, path, key).
    pub key: String,
    /// The body's hash.
    pub body: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Posted {
    body: String,
    made: String,
    #[serde(rename = "expiresAt")]
    expires_at: i64,
}

impl PostKey {
    /// From what a request has.
    pub fn new(caller: &str, method: &str, path: &str, key: &str, body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        Self { key: keys::hash(&["key", caller, method, path, key]), body: keys::hash(&["body", &body]) }
    }

    /// Keeps that `made` came of it, unless something did before.
    pub fn write(&self, made: &str, now: Time) -> Result<Write> {
        let posted = Posted { body: self.body.clone(), made: made.to_owned(), expires_at: (now + KEY_KEPT).as_seconds() };
        Write::put(keys::idempotency(&self.key), &posted)?
            .when("attribute_not_exists(PK) OR #expiresAt <= :now")
            .value(":now", now.as_seconds())
    }

    /// Where it is kept.
    pub(crate) fn place(&self) -> keys::Key {
        keys::idempotency(&self.key)
    }

    /// What came of it before, where that is why a transaction was refused.
    pub(crate) fn made<T: FromStr>(key: Option<&Self>, refusal: &Refusal) -> Result<Option<T>> {
        let Some(key) = key.filter(|key| refusal.names(&key.place())) else { return Ok(None) };
        let posted = refusal.there(&key.place()).ok_or_else(|| Error::Retry("the key was just used; repeat the call".into()))?;
        key.made_by(posted).map(Some)
    }

    /// What came of it before, if that is not forgotten yet.
    pub(crate) fn made_before<T: FromStr>(&self, posted: Option<Posted>, now: Time) -> Result<Option<T>> {
        posted.filter(|posted| posted.expires_at > now.as_seconds()).map(|posted| self.made_by(posted)).transpose()
    }

    fn made_by<T: FromStr>(&self, posted: Posted) -> Result<T> {
        if posted.body != self.body {
            return Err(Error::invalid("", "this Idempotency-Key was used before with another body"));
        }
        posted.made.parse().map_err(|_| Error::invalid("", "this Idempotency-Key made something else"))
    }
}

impl Store {
    /// The id of what a key made before, if it did: whatever has changed since, the answer is what was made.
    pub async fn made_before<T: FromStr>(&self, key: Option<&PostKey>, now: Time) -> Result<Option<T>> {
        let Some(key) = key else { return Ok(None) };
        key.made_before(self.table.get(&key.place()).await?, now)
    }
}
