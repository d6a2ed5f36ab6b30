//! The HTTP server: serves connections side by side, bounds how long one may take to send its headers, and ends them gracefully.
//!
//! The body's time is bounded where bodies are read, in the function `api`; a WebSocket's by itself.

use std::{io, pin::pin, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::sleep,
};

/// How long a client may take to send a request's headers, and a connection may be idle before the next request.
const HEADERS_WITHIN: Duration = Duration::from_mins(1);
/// How long nobody is let in where there is no room for one more.
const FULL: Duration = Duration::from_millis(200);

/// Serves until the process ends; then ends connections once their requests are answered.
pub(crate) async fn serve(listener: TcpListener, app: Router, stopping: watch::Receiver<bool>) {
    serve_within(HEADERS_WITHIN, listener, app, stopping).await;
}

async fn serve_within(headers_within: Duration, listener: TcpListener, app: Router, mut stopping: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = told(&mut stopping) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(headers_within, stream, app.clone(), stopping.clone()));
            }
            // Who went before it was let in.
            Err(error) if is_of_one(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                sleep(FULL).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(headers_within: Duration, stream: TcpStream, app: Router, mut stopping: watch::Receiver<bool>) {
    // Small frames must not wait for each other.
    let _ = stream.set_nodelay(true);
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(headers_within)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app))
        .with_upgrades();
    let mut serving = pin!(serving);
    tokio::select! {
        // A connection that broke has nobody to be told.
        _ = serving.as_mut() => return,
        () = told(&mut stopping) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

async fn told(stopping: &mut watch::Receiver<bool>) {
    // Whoever could tell is gone only with the process.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

fn is_of_one(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        sync::Notify,
        task::JoinHandle,
        time::timeout,
    };

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    struct Served {
        address: std::net::SocketAddr,
        stop: watch::Sender<bool>,
        serving: JoinHandle<()>,
        /// Lets a request to `/slow` be answered.
        gate: std::sync::Arc<Notify>,
        /// Says that one has come.
        arrived: std::sync::Arc<Notify>,
    }

    async fn served(headers_within: Duration) -> Served {
        let (gate, arrived) = (std::sync::Arc::new(Notify::new()), std::sync::Arc::new(Notify::new()));
        let (passed, came) = (gate.clone(), arrived.clone());
        let slow = async move || {
            came.notify_one();
            passed.notified().await;
            "slow"
        };
        let app = Router::new().route("/", get(async || "here")).route("/slow", get(slow));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, (stop, stopping)) = (listener.local_addr().unwrap(), watch::channel(false));
        let serving = tokio::spawn(serve_within(headers_within, listener, app, stopping));
        Served { address, stop, serving, gate, arrived }
    }

    async fn sent(served: &Served, bytes: &str) -> TcpStream {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream
    }

    /// Everything that comes until the server closes the connection.
    async fn rest(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        timeout(SOON, stream.read_to_string(&mut text)).await.expect("the server closes the connection").unwrap();
        text
    }

    #[tokio::test]
    async fn who_sends_half_a_head_is_let_go() {
        let served = served(Duration::from_millis(50)).await;
        let mut half = sent(&served, "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ").await;
        let mut nothing = sent(&served, "").await;
        assert_eq!(rest(&mut half).await, "");
        assert_eq!(rest(&mut nothing).await, "");
        // Others are served meanwhile, and who takes long to be answered is not let go.
        let mut slow = sent(&served, "GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        served.arrived.notified().await;
        let mut later = sent(&served, "").await;
        assert_eq!(rest(&mut later).await, "", "the time of a head has passed");
        served.gate.notify_one();
        assert!(rest(&mut slow).await.ends_with("slow"));
    }

    #[tokio::test]
    async fn in_the_end_idle_connections_close_and_requests_are_answered() {
        let served = served(HEADERS_WITHIN).await;
        let mut idle = sent(&served, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let mut first = [0; 15];
        idle.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        let mut slow = sent(&served, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await;
        served.arrived.notified().await;
        served.stop.send_replace(true);
        rest(&mut idle).await;
        assert!(!served.serving.is_finished(), "it waits for the slow one");
        served.gate.notify_one();
        assert!(rest(&mut slow).await.ends_with("slow"));
        timeout(SOON, served.serving).await.unwrap().unwrap();
        assert!(TcpStream::connect(served.address).await.is_err(), "nobody listens any more");
    }
}
