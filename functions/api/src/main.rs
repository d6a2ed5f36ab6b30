//! The HTTP API on Lambda.

use std::sync::Arc;

use axum::Router;
use smartspace_api::{AdminKey, Api, SocketUrl, Tokens, router};
use smartspace_edges::key_sets::HttpKeySet;
use smartspace_lambda::{Error, config::Config, edges::Aws, log};

#[tokio::main]
async fn main() -> Result<(), Error> {
    log::start();
    let aws = Aws::new().await?;
    let secrets = aws.secrets().await?;
    let Config { socket_url, cors_origins, provider, jwt_create, .. } = aws.config;
    let tokens = match (provider, secrets.jwt_secret.filter(|secret| !secret.is_empty())) {
        (Some(its), _) => Some(Tokens::of_provider(Arc::new(HttpKeySet::new(&its.keys)?), its.issuer, its.audience, jwt_create)),
        (None, Some(secret)) => Some(Tokens::signed_with(&secret, jwt_create).map_err(|error| format!("jwtSecret: {error}"))?),
        (None, None) => None,
    };
    let admin_key = AdminKey::new(&secrets.admin_key);
    let api = Api { pipeline: aws.pipeline, admin_key, tokens, socket_url: SocketUrl::Fixed(socket_url), cors_origins };
    smartspace_lambda::run_http(router(api, Router::new())).await
}
