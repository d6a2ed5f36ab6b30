//! JWTs as a backend or an identity provider makes them, by hand, so that the product's own library is not asked about itself; and a provider
//! that publishes its keys.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::{
    hmac,
    rand::SystemRandom,
    rsa::{KeySize, PublicKeyComponents},
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair},
};
use axum::{Router, extract::State, http::StatusCode, routing::get};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle, time::sleep};

use super::{client::Client, process::Setup, stack::Stack};

/// A secret that the product is given.
pub(crate) const SECRET: &str = "a secret between us, of 40 bytes or more.";

/// Who makes tokens.
pub(crate) struct Signer {
    kid: Option<String>,
    key: Key,
}

enum Key {
    Secret(Vec<u8>),
    Rsa(Box<RsaKeyPair>),
    Ec(Box<EcdsaKeyPair>),
    None,
}

impl Signer {
    /// By a secret (HS256).
    pub(crate) fn secret(secret: impl AsRef<[u8]>) -> Self {
        Self { kid: None, key: Key::Secret(secret.as_ref().to_vec()) }
    }

    /// By a new key (RS256).
    pub(crate) fn rsa(kid: &str) -> Self {
        Self { kid: Some(kid.into()), key: Key::Rsa(Box::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())) }
    }

    /// By a new key (ES256).
    pub(crate) fn ec(kid: &str) -> Self {
        Self { kid: Some(kid.into()), key: Key::Ec(Box::new(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())) }
    }

    /// By nobody: `"alg": "none"`.
    pub(crate) fn none() -> Self {
        Self { kid: None, key: Key::None }
    }

    /// The same under the name of another's key.
    pub(crate) fn named(self, kid: Option<&str>) -> Self {
        Self { kid: kid.map(str::to_owned), ..self }
    }

    /// A token that says this.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let alg = match self.key {
            Key::Secret(_) => "HS256",
            Key::Rsa(_) => "RS256",
            Key::Ec(_) => "ES256",
            Key::None => "none",
        };
        let mut header = json!({ "alg": alg, "typ": "JWT" });
        if let Some(kid) = &self.kid {
            header["kid"] = kid.as_str().into();
        }
        let said = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let random = SystemRandom::new();
        let signature = match &self.key {
            Key::Secret(secret) => hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), said.as_bytes()).as_ref().to_vec(),
            Key::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, said.as_bytes(), &mut signature).unwrap();
                signature
            }
            Key::Ec(pair) => pair.sign(&random, said.as_bytes()).unwrap().as_ref().to_vec(),
            Key::None => Vec::new(),
        };
        format!("{said}.{}", encoded(signature))
    }

    /// Its public key, as a provider publishes it.
    pub(crate) fn jwk(&self) -> Value {
        let mut jwk = match &self.key {
            Key::Rsa(pair) => {
                let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({ "kty": "RSA", "n": encoded(n), "e": encoded(e), "use": "sig", "alg": "RS256" })
            }
            Key::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({ "kty": "EC", "crv": "P-256", "x": encoded(&point[1..33]), "y": encoded(&point[33..]), "use": "sig" })
            }
            Key::Secret(_) | Key::None => panic!("it has no public key"),
        };
        jwk["kid"] = self.kid.clone().into();
        jwk
    }

    /// Its public key as bytes, with which somebody might sign as if it were a secret.
    pub(crate) fn public_bytes(&self) -> Vec<u8> {
        match &self.key {
            Key::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            Key::Ec(pair) => pair.public_key().as_ref().to_vec(),
            Key::Secret(_) | Key::None => panic!("it has no public key"),
        }
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// So many seconds from now, as tokens write times.
pub(crate) fn in_seconds(seconds: i64) -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap() + seconds
}

/// What a product is told that believes tokens.
fn believing() -> Vec<(String, String)> {
    vec![("SMARTSPACE_JWT_SECRET".to_owned(), SECRET.to_owned())]
}

impl Stack {
    /// A product that believes [`SECRET`].
    pub(crate) async fn with_secret(more: &[&str]) -> Option<Self> {
        Self::of(Setup { flags: more.iter().map(|flag| (*flag).to_owned()).collect(), env: believing(), ..Setup::default() }).await
    }

    /// The same. None against a deployed stack: the test is skipped, for `why`.
    pub(crate) async fn with_secret_alone(why: &'static str) -> Option<Self> {
        Self::of(Setup { alone: why, env: believing(), ..Setup::default() }).await
    }

    /// The product as an entity meets it: a token of its backend names its id.
    pub(crate) fn as_entity(&self, entity: &str) -> Client {
        self.as_subject(entity, 600)
    }

    /// The same for any subject, for so many seconds.
    pub(crate) fn as_subject(&self, subject: &str, seconds: i64) -> Client {
        Client::with(self, &Signer::secret(SECRET).token(&json!({ "sub": subject, "exp": in_seconds(seconds) })))
    }
}

/// An identity provider.
pub(crate) struct Provider {
    /// Where its keys are.
    pub(crate) url: String,
    state: Arc<Publishes>,
    serving: JoinHandle<()>,
}

struct Publishes {
    answer: Mutex<(u16, String)>,
    asked: AtomicUsize,
    delay: Mutex<Duration>,
}

impl Provider {
    /// One that publishes these keys.
    pub(crate) async fn publishing(signers: &[&Signer]) -> Self {
        let state = Arc::new(Publishes { answer: Mutex::default(), asked: AtomicUsize::new(0), delay: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let router = Router::new().route("/jwks.json", get(publish)).with_state(Arc::clone(&state));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let provider = Self { url, state, serving };
        provider.publishes(signers);
        provider
    }

    /// From now on these keys.
    pub(crate) fn publishes(&self, signers: &[&Signer]) {
        let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
        self.answers(200, &json!({ "keys": keys }).to_string());
    }

    /// From now on this.
    pub(crate) fn answers(&self, status: u16, text: &str) {
        *self.state.answer.lock().unwrap() = (status, text.to_owned());
    }

    /// From now on it takes so long.
    pub(crate) fn takes(&self, delay: Duration) {
        *self.state.delay.lock().unwrap() = delay;
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }
}

async fn publish(State(state): State<Arc<Publishes>>) -> (StatusCode, String) {
    state.asked.fetch_add(1, Ordering::SeqCst);
    let delay = *state.delay.lock().unwrap();
    sleep(delay).await;
    let (status, text) = state.answer.lock().unwrap().clone();
    (StatusCode::from_u16(status).unwrap(), text)
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
