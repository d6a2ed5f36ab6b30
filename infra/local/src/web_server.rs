//! The HTTP server: serves connections concurrently, limits the time for request headers and for
//! taking answers, and shuts down gracefully.
//!
//! [`crate::bodies`] limits bodies, and [`crate::socket_server`] WebSockets.

use std::{io, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use smartspace_api::SourceAddress;
use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tower::ServiceExt;

use crate::{client_stream::ClientStream, time_limits::TimeLimits};

/// The longest headers of a request, and how much of a body is read at once.
const READ_BUFFER_BYTES: usize = 128 * 1024;
/// How much is sent to a client that has not confirmed it yet.
const SEND_BUFFER_BYTES: usize = 256 * 1024;
/// The pause after a connection could not be accepted, for example because the process has too many
/// open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Serves until `stopping` is true. Then it closes each connection once its request is answered.
pub(crate) async fn serve(
    limits: TimeLimits,
    listener: TcpListener,
    app: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = stopped(&mut stopping) => break,
        };
        match accepted {
            Ok((stream, from)) => {
                let from = SourceAddress(from.ip());
                connections.spawn(connection(limits, stream, from, app.clone(), stopping.clone()));
            }
            // The client disconnected before it was accepted.
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(
    limits: TimeLimits,
    stream: TcpStream,
    from: SourceAddress,
    app: Router,
    mut stopping: watch::Receiver<bool>,
) {
    // Send small frames at once.
    let _ = stream.set_nodelay(true);
    // A writer may go on when a third of the buffer is free. The system's own buffers grow to
    // megabytes, so a slow client would look like one that does not read.
    let _ = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER_BYTES);
    let stream = ClientStream::new(stream, limits.reading());
    let arrived = stream.arrived();
    let asked = Arc::new(Notify::new());
    let answer = {
        let asked = Arc::clone(&asked);
        move |mut request: Request<Incoming>| {
            asked.notify_one();
            request.extensions_mut().insert(from);
            request.extensions_mut().insert(arrived.clone());
            app.clone().oneshot(request.map(Body::new))
        }
    };
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.headers())
        .max_buf_size(READ_BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .with_upgrades();
    let mut serving = pin!(serving);
    let in_time = timeout(limits.first_request(), asked.notified());
    tokio::select! {
        biased;
        // If the connection broke, there is no one to report it to.
        _ = serving.as_mut() => return,
        () = stopped(&mut stopping) => serving.as_mut().graceful_shutdown(),
        asked = in_time => if asked.is_err() { return },
    }
    tokio::select! {
        _ = serving.as_mut() => return,
        () = stopped(&mut stopping) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // It fails if the sender is dropped, which happens only when the process ends.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

fn is_of_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        task::JoinHandle,
    };

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    struct Served {
        address: std::net::SocketAddr,
        stop: watch::Sender<bool>,
        serving: JoinHandle<()>,
        /// Releases the answer to a request to `/slow`.
        gate: Arc<Notify>,
        /// Notified when such a request has arrived.
        arrived: Arc<Notify>,
    }

    /// Says when an answer is dropped.
    struct NotifiesAtEnd(Arc<Notify>);

    impl Drop for NotifiesAtEnd {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }

    async fn served(limits: TimeLimits) -> Served {
        let gate = Arc::new(Notify::new());
        let arrived = Arc::new(Notify::new());
        let slow = {
            let gate = gate.clone();
            let arrived = arrived.clone();
            async move || {
                arrived.notify_one();
                gate.notified().await;
                "slow"
            }
        };
        let endless = {
            let arrived = arrived.clone();
            async move || {
                arrived.notify_one();
                let end = NotifiesAtEnd(arrived);
                let piece = move |()| {
                    let _ = &end;
                    Some((Ok::<_, io::Error>(vec![b'x'; 64 * 1024]), ()))
                };
                let pieces =
                    futures::stream::unfold((), move |state| std::future::ready(piece(state)));
                Body::from_stream(pieces)
            }
        };
        let app = Router::new()
            .route("/", get(async || "here"))
            .route("/slow", get(slow))
            .route("/endless", get(endless));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        let serving = tokio::spawn(serve(limits, listener, app, stopping));
        Served { address, stop, serving, gate, arrived }
    }

    async fn sent(served: &Served, bytes: &str) -> TcpStream {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream
    }

    /// Everything that arrives until the server closes the connection.
    async fn rest(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        timeout(SOON, stream.read_to_string(&mut text))
            .await
            .expect("the server closes the connection")
            .unwrap();
        text
    }

    #[tokio::test]
    async fn a_client_that_sends_half_of_its_headers_times_out() {
        let served = served(TimeLimits(0.02)).await;
        let mut half = sent(&served, "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ").await;
        let mut nothing = sent(&served, "").await;
        assert_eq!(rest(&mut half).await, "");
        assert_eq!(rest(&mut nothing).await, "");
        // Others are served meanwhile, and a slow answer does not time out.
        let mut slow =
            sent(&served, "GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        served.arrived.notified().await;
        let mut later = sent(&served, "").await;
        assert_eq!(rest(&mut later).await, "", "the time limit for headers has passed");
        served.gate.notify_one();
        assert!(rest(&mut slow).await.ends_with("slow"));
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_of_its_answer_is_left() {
        let served = served(TimeLimits(0.02)).await;
        let _deaf = sent(&served, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await;
        served.arrived.notified().await;
        // The answer is dropped.
        timeout(SOON, served.arrived.notified()).await.unwrap();
    }

    #[tokio::test]
    async fn a_shutdown_closes_idle_connections_and_answers_open_requests() {
        let served = served(TimeLimits(1.0)).await;
        let mut idle = sent(&served, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let mut first = [0; 15];
        idle.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        let mut slow = sent(&served, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await;
        served.arrived.notified().await;
        served.stop.send_replace(true);
        rest(&mut idle).await;
        assert!(!served.serving.is_finished(), "it waits for the slow request");
        served.gate.notify_one();
        assert!(rest(&mut slow).await.ends_with("slow"));
        timeout(SOON, served.serving).await.unwrap().unwrap();
        assert!(TcpStream::connect(served.address).await.is_err(), "the port is still open");
    }
}
