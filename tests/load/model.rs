//! The model that the product asks: one `send_message`, then nothing more. It answers at once, or after some time.

use std::time::Duration;

use axum::{Router, serve::ListenerExt};
use smartspace_tests::model::{PATH, answering};
use tokio::net::TcpListener;

/// Starts one that takes so long for each answer. Its base URL.
pub(crate) async fn start(takes: Duration) -> Result<String, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let router: Router = Router::new().route(&format!("/v1{PATH}"), answering(takes));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(format!("http://{address}/v1"))
}
