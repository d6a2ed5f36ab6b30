//! The entry of the function `protocols` on Lambda: reads the environment and serves the adapters.

use std::sync::Arc;

use smartspace_lambda::{Error, config::Config, http};
use smartspace_ports::ids::RandomIds;
use smartspace_protocols::{Settings, router};
use smartspace_web::{PublicAddress, with_fallbacks, with_middleware};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let config = Config::start()?;
    let routes = router(Settings {
        api_url: config.needed_api_url()?,
        public_address: PublicAddress::BehindGateway,
        origins: config.cors_origins.clone(),
        issuer: config.provider.map(|provider| provider.issuer),
        call_limits: config.call_limits,
    });
    let ids = Arc::new(RandomIds);
    http::serve_streaming(with_middleware(with_fallbacks(routes), ids, &config.cors_origins)).await
}
