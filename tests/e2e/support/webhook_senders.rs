//! Services that call agents through webhooks, and how they sign their requests.
//!
//! The signatures are made without the product's code, so that the tests do not check that code
//! against itself.

pub(crate) mod signatures;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    process::Setup,
    stack::Stack,
    tokens,
    webhook_senders::signatures::{SCHEMES, SignedRequest},
};

/// The value of the secret `HOOK`, which the services sign with.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The value of the secret `OTHER`.
pub(crate) const OTHER_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// The environment of a product that knows both secrets and accepts tokens.
const ENV: [(&str, &str); 3] = [
    ("SMARTSPACE_SECRET_HOOK", SECRET),
    ("SMARTSPACE_SECRET_OTHER", OTHER_SECRET),
    ("SMARTSPACE_JWT_SECRET", tokens::SECRET),
];

/// A payload with the delivery key in the fields where Stripe and Slack have it.
pub(crate) fn sample_payload(key: &str) -> Value {
    json!({ "id": key, "event_id": key, "text": "The build is red." })
}

/// One webhook for each scheme, named like the scheme, and some special ones.
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
    /// A product that knows both secrets. Returns `None` on a deployed stack with other settings:
    /// the test is skipped.
    pub(crate) async fn receiving(more: &[(&str, &str)]) -> Option<Self> {
        Self::with_env(&[&ENV, more].concat()).await
    }

    /// Like [`Self::receiving`], for tests of rate limits, which need a single fast process.
    /// Returns `None` on a deployed stack: its processes count separately for a while, and an
    /// emulator is slower than any rate.
    pub(crate) async fn receiving_at_once() -> Option<Self> {
        let env = ENV.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self::of(Setup {
            alone: "it needs a single process that answers at once",
            env,
            ..Setup::default()
        })
        .await
    }

    /// Like [`Self::receiving`], on a folder, so that the product can be restarted.
    pub(crate) async fn receiving_on_disk() -> Option<Self> {
        Self::local_with_env(&ENV).await
    }

    /// Creates an agent with the model `ada` and the webhooks of [`webhooks`], and with further
    /// settings. Returns its id.
    pub(crate) async fn receiver(&self, more: Value) -> String {
        let model = json!({ "provider": "openai", "name": self.model.name("ada") });
        let mut agent = json!({ "model": model, "webhooks": webhooks() });
        for (field, value) in more.as_object().unwrap() {
            agent[field] = value.clone();
        }
        self.agent_with("Ada", agent).await
    }
}

impl Client {
    /// The request that delivers `sent` to an agent.
    pub(crate) fn hook_request(
        &self,
        agent: &str,
        service: &str,
        sent: &SignedRequest,
    ) -> RequestBuilder {
        let mut request = self.request(Method::POST, &format!("/v1/hooks/{agent}/{service}"));
        for (name, value) in &sent.headers {
            request = request.header(*name, value);
        }
        request.body(sent.body.clone())
    }

    /// Delivers `sent` to an agent.
    pub(crate) async fn hook(&self, agent: &str, service: &str, sent: &SignedRequest) -> Reply {
        self.send(self.hook_request(agent, service, sent)).await
    }

    /// Triggers an agent in the name of a service, with further headers.
    pub(crate) async fn trigger(
        &self,
        agent: &str,
        service: &str,
        payload: &Value,
        headers: &[(&str, &str)],
    ) -> Reply {
        let body = json!({ "service": service, "payload": payload });
        let mut request = self
            .request(Method::POST, &format!("/v1/agents/{agent}/trigger"))
            .bearer_auth(&self.key)
            .json(&body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request).await
    }

    /// The deliveries of an agent, newest first.
    pub(crate) async fn deliveries(&self, agent: &str, query: &str) -> Vec<Value> {
        self.all(&format!("/v1/agents/{agent}/deliveries{query}")).await
    }

    /// Replays a delivery.
    pub(crate) async fn replay(&self, agent: &str, delivery: &str) -> Reply {
        self.call(Method::POST, &format!("/v1/agents/{agent}/deliveries/{delivery}/replay"), None)
            .await
    }

    /// All runs of an agent, newest first.
    pub(crate) async fn runs_by(&self, agent: &str) -> Vec<Value> {
        self.all(&format!("/v1/agents/{agent}/runs?limit=200")).await
    }
}
