//! The HTTP API on Lambda.

use axum::Router;
use smartspace_api::{AdminKey, Api, SocketUrl, router};
use smartspace_lambda::{Error, config::Config, edges::Aws, log};

#[tokio::main]
async fn main() -> Result<(), Error> {
    log::start();
    let aws = Aws::new().await?;
    let admin_key = AdminKey::new(&aws.secrets().await?.admin_key);
    let Config { socket_url, cors_origins, .. } = aws.config;
    let api = Api { pipeline: aws.pipeline, admin_key, socket_url: SocketUrl::Fixed(socket_url), cors_origins };
    smartspace_lambda::run_http(router(api, Router::new())).await
}
