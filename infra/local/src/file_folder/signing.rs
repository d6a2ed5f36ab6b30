//! Signed addresses of files, as S3 signs them: a client that has one may upload or download one
//! file for a while, and nothing else.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use smartspace_domain::{
    Time,
    attachments::{FilePart, FileSpec, Sha256Hex},
};

/// The key that addresses are signed with. It can't be printed.
#[derive(Clone)]
pub(crate) struct FolderKey([u8; 32]);

impl fmt::Debug for FolderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FolderKey")
    }
}

/// What the address of an upload allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignedUpload {
    /// Until when it works, in milliseconds since the epoch.
    pub(super) until: i64,
    pub(super) upload: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl SignedUpload {
    pub(super) fn new(file: &FileSpec, until: Time) -> Self {
        Self {
            until: until.as_millis(),
            upload: file.content_type.name().to_owned(),
            bytes: file.bytes,
            sha256: file.sha256.to_string(),
        }
    }
}

/// What the address of a download allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignedDownload {
    /// Until when it works, in milliseconds since the epoch.
    pub(super) until: i64,
    pub(super) download: String,
    pub(super) name: String,
}

impl SignedDownload {
    pub(super) fn new(file: &FilePart, until: Time) -> Self {
        Self {
            until: until.as_millis(),
            download: file.content_type.clone(),
            name: file.name.clone(),
        }
    }
}

const SIGNATURE: &str = "&signature=";

impl FolderKey {
    /// The key of the deployment with this admin key.
    pub(crate) fn of_admin_key(admin_key: &str) -> Self {
        Self(Sha256::new_with_prefix(b"files\0").chain_update(admin_key).finalize().into())
    }

    /// The address at this path that allows `what`.
    pub(super) fn sign(&self, path: &str, what: &impl Serialize) -> String {
        let query = serde_urlencoded::to_string(what).unwrap_or_default();
        let address = format!("{path}?{query}");
        // The code has as many bytes as a hash.
        let code = self.mac(&address).finalize().into_bytes();
        format!("{address}{SIGNATURE}{}", Sha256Hex::of_digest(&code.into()))
    }

    /// What the address with this path and query allows at this time.
    pub(super) fn allowed<T: for<'de> Deserialize<'de>>(
        &self,
        path: &str,
        query: &str,
        until: impl FnOnce(&T) -> i64,
        now: Time,
    ) -> Option<T> {
        let (query, signature) = query.rsplit_once(SIGNATURE)?;
        let expected = self.mac(&format!("{path}?{query}"));
        let signature: Sha256Hex = signature.parse().ok()?;
        expected.verify_slice(&signature.digest()).ok()?;
        let what: T = serde_urlencoded::from_str(query).ok()?;
        (until(&what) > now.as_millis()).then_some(what)
    }

    fn mac(&self, address: &str) -> Hmac<Sha256> {
        // Every length of key is accepted.
        let mac = Hmac::new_from_slice(&self.0)
            .unwrap_or_else(|_| unreachable!("an HMAC takes a key of any length"));
        Mac::chain_update(mac, address)
    }
}
