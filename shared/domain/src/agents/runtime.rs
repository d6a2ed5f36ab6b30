//! Agents that work elsewhere: a signed webhook wakes them, and they answer over HTTP.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::{errors::Faults, limits, names::SecretName};

/// The longest address of a remote agent, in bytes.
const URL_BYTES: usize = 2_048;

/// Where a remote agent works. It has no model here. When it is woken, a signed webhook carries its
/// run to `url`, and it answers with the token that comes along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Runtime {
    /// How the agent is woken.
    #[serde(rename = "type")]
    pub kind: RuntimeType,
    /// The address that gets the webhook: `https://` or `http://`, at most 2,048 bytes. It must be
    /// public, or listed in `SMARTSPACE_TOOL_HOSTS`. Redirects are not followed.
    #[schema(max_length = 2048)]
    pub url: String,
    /// `${secret.NAME}`: the secret of this deployment that signs the webhook, as Standard Webhooks
    /// writes secrets.
    #[schema(pattern = r"^\$\{secret\.[A-Z][A-Z0-9_]{0,63}\}$")]
    pub secret: String,
    /// How long a run may take, in seconds. Then it fails.
    #[serde(default = "Runtime::default_timeout")]
    #[schema(default = Runtime::default_timeout, minimum = 10, maximum = 86400)]
    pub timeout_seconds: u32,
}

/// How a remote agent is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeType {
    /// By a webhook that is signed by Standard Webhooks 1.0.
    Webhook,
}

impl Runtime {
    fn default_timeout() -> u32 {
        900
    }

    /// How long a run may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_seconds))
    }

    /// The name of the secret that signs the webhook. Empty if `secret` names none.
    pub fn secret_name(&self) -> &str {
        self.secret
            .strip_prefix("${secret.")
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or_default()
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        let url = Url::parse(&self.url).ok();
        let is_plain = url.as_ref().is_some_and(|url| {
            matches!(url.scheme(), "https" | "http")
                && url.has_host()
                && url.username().is_empty()
                && url.password().is_none()
                && url.fragment().is_none()
        });
        faults.check(
            is_plain
                && self.url.len() <= URL_BYTES
                && !self.url.contains(['\\', '{', '}'])
                && self.url.bytes().all(|byte| byte.is_ascii_graphic()),
            "url",
            format!(
                "expected an address that begins with https:// or http://, at most {URL_BYTES} \
                 bytes of ASCII, without blanks, a user, a fragment or placeholders"
            ),
        );
        faults.check(
            SecretName::check(self.secret_name()).is_ok(),
            "secret",
            "expected ${secret.NAME}, the name of a secret of this deployment",
        );
        faults.check_range(&self.timeout_seconds, limits::REMOTE_SECONDS, "timeoutSeconds");
    }
}
