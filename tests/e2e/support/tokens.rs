//! JWTs as a backend or an identity provider makes them.
//!
//! The tokens are made without the product's JWT library, so that the tests do not check that
//! library against itself.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::{
    hmac,
    rand::SystemRandom,
    rsa::{KeySize, PublicKeyComponents},
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::support::{client::Client, process::Setup, stack::Stack};

/// The JWT secret of the product.
pub(crate) const SECRET: &str = "a secret between us, of 40 bytes or more.";

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
    /// Signs with a secret (HS256).
    pub(crate) fn secret(secret: impl AsRef<[u8]>) -> Self {
        Self { kid: None, key: Key::Secret(secret.as_ref().to_vec()) }
    }

    /// Signs with a new key (RS256).
    pub(crate) fn rsa(kid: &str) -> Self {
        Self {
            kid: Some(kid.into()),
            key: Key::Rsa(Box::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())),
        }
    }

    /// Signs with a new key (ES256).
    pub(crate) fn ec(kid: &str) -> Self {
        Self {
            kid: Some(kid.into()),
            key: Key::Ec(Box::new(
                EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            )),
        }
    }

    /// Does not sign: `"alg": "none"`.
    pub(crate) fn none() -> Self {
        Self { kid: None, key: Key::None }
    }

    /// The same signer, with another key id.
    pub(crate) fn named(self, kid: Option<&str>) -> Self {
        Self { kid: kid.map(str::to_owned), ..self }
    }

    /// A token with these claims.
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
        let signed = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let random = SystemRandom::new();
        let signature = match &self.key {
            Key::Secret(secret) => {
                hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes())
                    .as_ref()
                    .to_vec()
            }
            Key::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
                signature
            }
            Key::Ec(pair) => pair.sign(&random, signed.as_bytes()).unwrap().as_ref().to_vec(),
            Key::None => Vec::new(),
        };
        format!("{signed}.{}", encoded(signature))
    }

    /// The public key as a provider publishes it.
    pub(crate) fn jwk(&self) -> Value {
        let mut jwk = match &self.key {
            Key::Rsa(pair) => {
                let PublicKeyComponents { n, e } =
                    PublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({
                    "kty": "RSA",
                    "n": encoded(n),
                    "e": encoded(e),
                    "use": "sig",
                    "alg": "RS256",
                })
            }
            Key::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({
                    "kty": "EC",
                    "crv": "P-256",
                    "x": encoded(&point[1..33]),
                    "y": encoded(&point[33..]),
                    "use": "sig",
                })
            }
            Key::Secret(_) | Key::None => panic!("this signer has no public key"),
        };
        jwk["kid"] = self.kid.clone().into();
        jwk
    }

    /// The public key as bytes. An attacker might sign with them as if they were a secret.
    pub(crate) fn public_bytes(&self) -> Vec<u8> {
        match &self.key {
            Key::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            Key::Ec(pair) => pair.public_key().as_ref().to_vec(),
            Key::Secret(_) | Key::None => panic!("this signer has no public key"),
        }
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The time in `seconds` from now, as seconds since 1970.
pub(crate) fn in_seconds(seconds: i64) -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
        + seconds
}

/// The environment of a product that accepts tokens signed with [`SECRET`].
pub(crate) fn jwt_env() -> Vec<(String, String)> {
    vec![("SMARTSPACE_JWT_SECRET".to_owned(), SECRET.to_owned())]
}

impl Stack {
    /// A product that accepts tokens signed with [`SECRET`], with further flags. Returns `None` if
    /// the test is skipped.
    pub(crate) async fn with_secret(more: &[&str]) -> Option<Self> {
        Self::of(Setup {
            flags: more.iter().map(|flag| (*flag).to_owned()).collect(),
            env: jwt_env(),
            ..Setup::default()
        })
        .await
    }

    /// Like [`Self::with_secret`], for a product that no other test uses. Returns `None` on a
    /// deployed stack: the test is skipped because of `why`.
    pub(crate) async fn with_secret_alone(why: &'static str) -> Option<Self> {
        Self::of(Setup { alone: why, env: jwt_env(), ..Setup::default() }).await
    }
}

impl Client {
    /// A caller with a token that names the entity's id.
    pub(crate) fn as_entity(&self, entity: &str) -> Self {
        self.as_subject(entity, 600)
    }

    /// A caller with a token for any subject that expires in `seconds`.
    pub(crate) fn as_subject(&self, subject: &str, seconds: i64) -> Self {
        self.with(
            &Signer::secret(SECRET).token(&json!({ "sub": subject, "exp": in_seconds(seconds) })),
        )
    }
}
