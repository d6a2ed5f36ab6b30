//! The HTTP API on Lambda.

use std::sync::Arc;

use axum::{Router, extract::Request, middleware::map_request};
use smartspace_api::{
    AdminKey, Api, Egress, PublicAddress, SocketUrl, SourceAddress, Tokens, as_sent, router,
};
use smartspace_domain::callbacks::CallbackKey;
use smartspace_lambda::{
    Error,
    aws::Aws,
    config::Config,
    failure::Failure,
    http,
    secret::{Built, Contents},
};
use smartspace_ports::{key_sets::HttpKeySet, model_servers::NoServers, resolver::SystemResolver};
use smartspace_web::refusing;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let aws = Aws::start()?.with_files();
    let secret = aws.secret();
    let Aws { config, pipeline, .. } = aws;
    let tools: Arc<_> = Arc::new(secret.clone());
    let egress =
        Egress::new(Arc::new(SystemResolver), config.tool_hosts.parse()?, Arc::new(secret.clone()));
    let routes = Built::new(secret, move |secret| {
        let api = Api {
            pipeline: pipeline.clone(),
            admin_key: AdminKey::new(secret.needed_admin_key()?),
            callback_key: CallbackKey::of_secret(&secret.callback_key),
            tokens: tokens(&config, secret)?,
            secrets: tools.clone(),
            public_address: PublicAddress::BehindGateway,
            socket_url: SocketUrl::Fixed(config.socket_url.clone()),
            cors_origins: config.cors_origins.clone(),
            router_model: config.router_model.clone(),
            providers: Arc::new(secret.fill_in(&config.providers)),
            // A function must not wait for a server that may be out of its reach.
            model_servers: Arc::new(NoServers),
            egress: egress.clone(),
            invites: config.invites,
        };
        Ok(router(api, Router::new()).layer(map_request(with_source)))
    });
    let routes = Arc::new(routes);
    http::serve(as_sent, move || {
        let routes = Arc::clone(&routes);
        async move {
            routes
                .get()
                .await
                .map_or_else(|failure| refusing(failure.message), |routes| (*routes).clone())
        }
    })
    .await
}

/// Lets a request know the address that it came from.
async fn with_source(mut request: Request) -> Request {
    if let Some(address) = http::source_address(request.extensions()) {
        request.extensions_mut().insert(SourceAddress(address));
    }
    request
}

/// The tokens to accept: those of the identity provider, or else those signed with `jwtSecret`.
fn tokens(config: &Config, secret: &Contents) -> Result<Option<Tokens>, Failure> {
    if let Some(provider) = config.provider.clone() {
        let keys = HttpKeySet::new(&provider.keys).map_err(Failure::not_configured)?;
        return Ok(Some(Tokens::of_provider(
            Arc::new(keys),
            provider.issuer,
            provider.audience,
            config.jwt_create,
        )));
    }
    let Some(jwt_secret) = secret.jwt_secret.as_ref().filter(|secret| !secret.is_empty()) else {
        return Ok(None);
    };
    Tokens::signed_with(jwt_secret, config.jwt_create).map(Some).map_err(|error| {
        Failure::not_configured(format!("`jwtSecret` in the secret TokenSecret: {error}"))
    })
}
