//! The model that the product asks. It answers with one `send_message` and then ends the run, at
//! once or after a fixed time.

use std::time::Duration;

use axum::{Router, serve::ListenerExt};
use smartspace_tests::model::{PATH, answering};
use tokio::net::TcpListener;

/// Starts a model that answers after this time. Returns its base URL.
pub(crate) async fn start(delay: Duration) -> Result<String, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let router: Router = Router::new().route(&format!("/v1{PATH}"), answering(delay));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(format!("http://{address}/v1"))
}
