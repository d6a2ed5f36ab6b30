//! Idempotency keys: a POST that is sent twice has one effect.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smartspace_domain::{Time, idempotency::IdempotencyKey, limits::KEY_STORED_FOR};

use crate::{
    Error, Idempotency, Result,
    table::{keys, refusal::Refusal, write::Write},
};

/// A caller's key for one POST, and the hash of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostKey {
    /// Hash of caller, method, path and key.
    pub key: String,
    /// Hash of the body.
    pub body: String,
    /// The key as the caller gave it.
    pub given: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Posted {
    body: String,
    made: String,
    #[serde(rename = "expiresAt")]
    expires_at: i64,
}

impl PostKey {
    /// Hashes the parts of a request.
    pub fn new(caller: &str, method: &str, path: &str, key: &IdempotencyKey, body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        Self {
            key: keys::hash(&["key", caller, method, path, key.as_str()]),
            body: keys::hash(&["body", &body]),
            given: key.as_str().to_owned(),
        }
    }

    /// Stores `made`, the id of the resource that the request created, unless the key is in use.
    pub fn write(&self, made: &str, now: Time) -> Result<Write> {
        let posted = Posted {
            body: self.body.clone(),
            made: made.to_owned(),
            expires_at: (now + KEY_STORED_FOR).as_seconds(),
        };
        Write::put(keys::idempotency(&self.key), &posted)?
            .when("attribute_not_exists(PK) OR #expiresAt <= :now")
            .value(":now", now.as_seconds())
    }

    pub(crate) fn item_key(&self) -> keys::Key {
        keys::idempotency(&self.key)
    }

    /// The earlier result of the key, if the key is why a transaction was refused.
    pub(crate) fn made<T: FromStr>(key: Option<&Self>, refusal: &Refusal) -> Result<Option<T>> {
        let Some(key) = key.filter(|key| refusal.names(&key.item_key())) else { return Ok(None) };
        let posted = refusal.existing(&key.item_key()).ok_or_else(|| {
            Error::Retry("this Idempotency-Key was used a moment ago; repeat the call".into())
        })?;
        key.made_by(posted).map(Some)
    }

    /// The earlier result of the key, unless it has expired.
    pub(crate) fn made_before<T: FromStr>(
        &self,
        posted: Option<Posted>,
        now: Time,
    ) -> Result<Option<T>> {
        posted
            .filter(|posted| posted.expires_at > now.as_seconds())
            .map(|posted| self.made_by(posted))
            .transpose()
    }

    fn made_by<T: FromStr>(&self, posted: Posted) -> Result<T> {
        if posted.body != self.body {
            return Err(Error::invalid(
                "",
                "this Idempotency-Key was used before with another body",
            ));
        }
        posted
            .made
            .parse()
            .map_err(|_| Error::invalid("", "this Idempotency-Key was used for something else"))
    }
}

impl Idempotency<'_> {
    /// The id of the resource that a key created earlier, if it created one. The resource may have
    /// changed since.
    pub async fn made_before<T: FromStr>(
        self,
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<Option<T>> {
        let Some(key) = key else { return Ok(None) };
        key.made_before(self.store.table.get(&key.item_key()).await?, now)
    }
}
