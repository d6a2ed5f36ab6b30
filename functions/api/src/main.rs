//! The HTTP API on Lambda.

use std::sync::Arc;

use axum::Router;
use smartspace_api::{AdminKey, Api, SocketUrl, Tokens, as_sent, refusing, router};
use smartspace_edges::key_sets::HttpKeySet;
use smartspace_lambda::{Error, config::Config, edges::Aws, failure::Failure, http, secret::Built};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let aws = Aws::start()?;
    let (secret, Aws { config, pipeline, .. }) = (aws.secret(), aws);
    let tools: Arc<_> = Arc::new(secret.clone());
    let routes = Built::new(secret, move |secret| {
        let Config { socket_url, cors_origins, provider, jwt_create, .. } = config.clone();
        let tokens = match (provider, secret.jwt_secret.as_ref().filter(|secret| !secret.is_empty())) {
            (Some(its), _) => {
                let keys = HttpKeySet::new(&its.keys).map_err(Failure::not_configured)?;
                Some(Tokens::of_provider(Arc::new(keys), its.issuer, its.audience, jwt_create))
            }
            (None, Some(secret)) => {
                let wrong = |error| Failure::not_configured(format!("`jwtSecret` in the stack's secret: {error}"));
                Some(Tokens::signed_with(secret, jwt_create).map_err(wrong)?)
            }
            (None, None) => None,
        };
        let (admin_key, pipeline, secrets) = (AdminKey::new(&secret.admin_key), pipeline.clone(), tools.clone());
        Ok(router(Api { pipeline, admin_key, tokens, secrets, socket_url: SocketUrl::Fixed(socket_url), cors_origins }, Router::new()))
    });
    let routes = Arc::new(routes);
    http::serve(as_sent, move || {
        let routes = Arc::clone(&routes);
        async move { routes.get().await.map_or_else(|failure| refusing(failure.message), |routes| (*routes).clone()) }
    })
    .await
}
