//! Services that call agents, and how they sign: written by hand, so that the product's own library is not asked about itself.

use aws_lc_rs::hmac;
use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{
    client::{Client, Reply},
    process::Setup,
    stack::Stack,
    tokens::{self, in_seconds},
};

/// A secret of any service: the agents' `HOOK`.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// Another one: their `OTHER`.
pub(crate) const OTHER_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// What a product is given that knows both, and believes tokens.
const ENV: [(&str, &str); 3] =
    [("SMARTSPACE_SECRET_HOOK", SECRET), ("SMARTSPACE_SECRET_OTHER", OTHER_SECRET), ("SMARTSPACE_JWT_SECRET", tokens::SECRET)];

/// Whose way of signing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Standard,
    Github,
    Stripe,
    Slack,
}

/// All of them.
pub(crate) const SCHEMES: [Scheme; 4] = [Scheme::Standard, Scheme::Github, Scheme::Stripe, Scheme::Slack];

/// What a service sends, to be changed before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Its headers; the last one is the signature.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

impl Scheme {
    /// As an agent's configuration names it, and the service that signs so.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Github => "github",
            Self::Stripe => "stripe",
            Self::Slack => "slack",
        }
    }

    /// Signed now, with a key that stands where the scheme has it: in a header, or in the body.
    pub(crate) fn sends(self, key: &str) -> Sent {
        self.signs(SECRET, key, said(key).to_string().as_bytes(), in_seconds(0))
    }

    /// Any body, signed by a secret at a time, in seconds.
    pub(crate) fn signs(self, secret: &str, key: &str, body: &[u8], at: i64) -> Sent {
        let time = at.to_string();
        let headers = match self {
            Self::Standard => {
                let secret = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
                let signature = BASE64_STANDARD.encode(mac(&secret, &[key.as_bytes(), b".", time.as_bytes(), b".", body]));
                vec![("webhook-id", key.to_owned()), ("webhook-timestamp", time), ("webhook-signature", format!("v1,{signature}"))]
            }
            Self::Github => {
                let signature = hex(&mac(secret.as_bytes(), &[body]));
                vec![("x-github-delivery", key.to_owned()), ("x-hub-signature-256", format!("sha256={signature}"))]
            }
            Self::Stripe => {
                let signature = hex(&mac(secret.as_bytes(), &[time.as_bytes(), b".", body]));
                vec![("stripe-signature", format!("t={time},v1={signature}"))]
            }
            Self::Slack => {
                let signature = hex(&mac(secret.as_bytes(), &[b"v0:", time.as_bytes(), b":", body]));
                vec![("x-slack-request-timestamp", time), ("x-slack-signature", format!("v0={signature}"))]
            }
        };
        Sent { headers, body: body.to_vec() }
    }
}

impl Sent {
    /// With one more header.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// What a service says in these tests: its key is where Stripe and Slack have it.
pub(crate) fn said(key: &str) -> Value {
    json!({ "id": key, "event_id": key, "text": "The build is red." })
}

/// One webhook for each scheme, named like it, and some that are special.
pub(crate) fn webhooks() -> Value {
    let one = |scheme: &str, secrets: &[&str]| json!({ "scheme": scheme, "secrets": secrets });
    let mut all = json!({
        "rotating": one("github", &["OTHER", "HOOK"]),
        "others": one("github", &["OTHER"]),
        "unset": one("standard", &["GONE", "LOST"]),
        "half-set": one("standard", &["GONE", "HOOK"]),
    });
    for scheme in SCHEMES {
        all[scheme.name()] = one(scheme.name(), &["HOOK"]);
    }
    all
}

impl Stack {
    /// A product that knows the secrets. None against a deployed stack: the test is skipped.
    pub(crate) async fn receiving(more: &[(&str, &str)]) -> Option<Self> {
        Self::with_env(&[&ENV, more].concat()).await
    }

    /// The same, with a single process that answers at once. None against a deployed stack, whose processes each count for themselves between two looks
    /// at what all have counted, and which may be an emulator's, slower than any rate.
    pub(crate) async fn receiving_at_once() -> Option<Self> {
        let env = ENV.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self::of(Setup { alone: "it counts on a single process that answers at once", env, ..Setup::default() }).await
    }

    /// The same on a folder, so that it can be started again.
    pub(crate) async fn receiving_on_disk() -> Option<Self> {
        Self::local_with_env(&ENV).await
    }

    /// Makes an agent that asks the model `ada`, that all services of [`webhooks`] may wake, with more settings.
    pub(crate) async fn receiver(&self, more: Value) -> String {
        let mut agent = json!({ "model": { "provider": "openai", "name": self.model.name("ada") }, "webhooks": webhooks() });
        for (field, value) in more.as_object().unwrap() {
            agent[field] = value.clone();
        }
        self.agent_with("Ada", agent).await
    }
}

impl Client {
    /// The request by which a service calls an agent.
    pub(crate) fn hooking(&self, agent: &str, service: &str, sent: &Sent) -> RequestBuilder {
        let mut request = self.request(Method::POST, &format!("/v1/hooks/{agent}/{service}"));
        for (name, value) in &sent.headers {
            request = request.header(*name, value);
        }
        request.body(sent.body.clone())
    }

    /// Lets a service call an agent.
    pub(crate) async fn hook(&self, agent: &str, service: &str, sent: &Sent) -> Reply {
        self.send(self.hooking(agent, service, sent)).await
    }

    /// Wakes an agent in a service's name, with more headers.
    pub(crate) async fn trigger(&self, agent: &str, service: &str, payload: &Value, headers: &[(&str, &str)]) -> Reply {
        let body = json!({ "service": service, "payload": payload });
        let mut request = self.request(Method::POST, &format!("/v1/agents/{agent}/trigger")).bearer_auth(&self.key).json(&body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request).await
    }

    /// What services sent an agent, newest first.
    pub(crate) async fn deliveries(&self, agent: &str, query: &str) -> Vec<Value> {
        self.all(&format!("/v1/agents/{agent}/deliveries{query}")).await
    }

    /// Sends a delivery again.
    pub(crate) async fn replay(&self, agent: &str, delivery: &str) -> Reply {
        self.call(Method::POST, &format!("/v1/agents/{agent}/deliveries/{delivery}/replay"), None).await
    }

    /// All runs of an agent, newest first.
    pub(crate) async fn runs_by(&self, agent: &str) -> Vec<Value> {
        self.all(&format!("/v1/agents/{agent}/runs?limit=200")).await
    }
}

fn mac(secret: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), &parts.concat()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
