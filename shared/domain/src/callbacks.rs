//! The token with which a remote agent answers a run.
//!
//! It is computed from the deployment's key and the lease of the run, so it is stored nowhere, and
//! a webhook that is sent again carries the same one.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::{
    Time,
    ids::{LeaseId, RunId},
};

/// The key that a deployment computes its callback tokens with. It can't be printed.
#[derive(Clone)]
pub struct CallbackKey([u8; 32]);

impl CallbackKey {
    /// The key that is derived from a secret of the deployment: on AWS its `callbackKey`, on the
    /// local host the admin key.
    pub fn of_secret(secret: &str) -> Self {
        Self(Sha256::new_with_prefix(b"callbacks\0").chain_update(secret).finalize().into())
    }

    /// The token for the callbacks of a run under this lease.
    pub fn token(&self, run: RunId, lease: &LeaseId, until: Time) -> String {
        let code = self.mac(run, lease, until).finalize().into_bytes();
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(code))
    }

    /// Whether `token` is the one of a run under this lease. Takes the same time for each wrong
    /// one.
    pub fn accepts(&self, token: &str, run: RunId, lease: &LeaseId, until: Time) -> bool {
        let code = token.strip_prefix(PREFIX).and_then(|code| URL_SAFE_NO_PAD.decode(code).ok());
        code.is_some_and(|code| self.mac(run, lease, until).verify_slice(&code).is_ok())
    }

    fn mac(&self, run: RunId, lease: &LeaseId, until: Time) -> Hmac<Sha256> {
        let parts = format!("{run}|{}|{}", lease.0, until.as_millis());
        // Every length of key is accepted.
        let mac = Hmac::new_from_slice(&self.0)
            .unwrap_or_else(|_| unreachable!("an HMAC takes a key of any length"));
        Mac::chain_update(mac, parts)
    }
}

impl fmt::Debug for CallbackKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackKey")
    }
}

/// What every token begins with.
const PREFIX: &str = "ssrun_";

/// Whether a text is meant to be a callback token.
pub fn is_like_a_token(text: &str) -> bool {
    text.starts_with(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_run_its_lease_and_its_deployment_only() {
        let at = Time::from_millis(1_771_427_220_000);
        let key = CallbackKey::of_secret("secret");
        let (run, lease) = (RunId::new(at, 1), LeaseId::new(2));
        let token = key.token(run, &lease, at);
        assert!(is_like_a_token(&token), "{token}");
        assert_eq!(token, CallbackKey::of_secret("secret").token(run, &lease, at));
        assert!(key.accepts(&token, run, &lease, at));
        let later = at + std::time::Duration::from_millis(1);
        assert!(!key.accepts(&token, RunId::new(at, 3), &lease, at));
        assert!(!key.accepts(&token, run, &LeaseId::new(3), at));
        assert!(!key.accepts(&token, run, &lease, later));
        assert!(!CallbackKey::of_secret("other").accepts(&token, run, &lease, at));
        for wrong in ["", "ssrun_", &token[..token.len() - 1], &token[1..], &format!("{token}A")] {
            assert!(!key.accepts(wrong, run, &lease, at), "{wrong}");
        }
        assert!(!format!("{key:?}").contains("secret"));
    }
}
