//! One MCP session with a server, from its handshake to its end.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use reqwest::Url;
use rmcp::{
    ClientHandler, ServiceExt,
    model::{
        ClientCapabilities, ClientConfig, ClientRequest, GetExtensions, Implementation,
        ProtocolVersion,
    },
    service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService},
    transport::{
        StreamableHttpClientTransport, common::client_side_sse::SseRetryPolicy,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use smartspace_domain::tools::McpServer;

use crate::mcp::{
    headers,
    in_flight::{Failure, InFlight, RequestState},
    transport::{CLOSE_LIMIT, McpTransport, TransportConfig},
};
use crate::{Egress, TraceContext};

/// The wait before the first attempt to resume a broken answer. It doubles with each attempt.
const RESUME_AFTER: Duration = Duration::from_millis(500);
/// How many attempts to resume an answer follow each other.
const RESUME_TRIES: usize = 3;

/// A session. Dropping it aborts all its work.
pub(super) struct Connection {
    service: Mutex<Option<RunningService<RoleClient, NoCapabilities>>>,
    peer: Peer<RoleClient>,
    transport: AbortOnDrop,
}

/// Aborts the transport when it is dropped, so that no task of `rmcp` keeps waiting for the server.
struct AbortOnDrop(McpTransport);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Connects. `most_bytes` limits the size of all responses of the session together.
    ///
    /// # Errors
    /// Why there is no session, in a sentence.
    pub(super) async fn open(
        egress: &Egress,
        server: &McpServer,
        trace: Option<TraceContext>,
        most_bytes: usize,
    ) -> Result<Self, String> {
        let url = Url::parse(&server.url)
            .map_err(|_| format!("the address of the server {} is invalid", server.name))?;
        let secrets = egress.secrets().await.map_err(|error| error.to_string())?;
        let headers = headers::of(server, url.host_str().unwrap_or_default(), &secrets)?;
        let transport = AbortOnDrop(McpTransport::new(TransportConfig {
            egress: egress.clone(),
            server: server.name.clone(),
            url,
            headers,
            trace,
            secrets,
            most_bytes,
        }));
        // `rmcp` may log everything that it knows, so it gets neither the URL nor the headers.
        let mut config =
            StreamableHttpClientTransportConfig::with_uri("").reinit_on_expired_session(false);
        config.retry_config = Arc::new(ResumePolicy);
        let client = StreamableHttpClientTransport::with_client(transport.0.clone(), config);
        match NoCapabilities.serve(client).await {
            Ok(service) => {
                let peer = service.peer().clone();
                Ok(Self { peer, service: Mutex::new(Some(service)), transport })
            }
            Err(_) => Err(match transport.0.handshake().take() {
                RequestState::Failed(
                    Failure::NotProcessed(text) | Failure::Refused(text) | Failure::Unknown(text),
                ) => text,
                _ => transport.0.sentence("broke off the handshake"),
            }),
        }
    }

    /// Whether the session has ended without [`Self::close`].
    pub(super) fn has_ended(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub(super) fn transport(&self) -> &McpTransport {
        &self.transport.0
    }

    /// Sends a request once and waits for its outcome, which is then in `in_flight`. Dropping the
    /// future cancels the request on the server.
    pub(super) async fn ask(&self, mut request: ClientRequest, in_flight: &InFlight) {
        request.extensions_mut().insert(in_flight.clone());
        let Ok(handle) =
            self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await
        else {
            return;
        };
        let mut waiting =
            CancelOnDrop { handle: Some(handle), transport: self.transport(), in_flight };
        if let Some(handle) = &mut waiting.handle {
            // The outcome is in `in_flight`.
            let _ = (&mut handle.rx).await;
        }
        waiting.handle = None;
    }

    /// Ends the session here and on the server. Takes one second at most.
    pub(super) async fn close(&self) {
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut service) = service {
            self.transport().allow_delete();
            // An error has no consequence: the session ends in any case.
            let _ = service.close_with_timeout(CLOSE_LIMIT).await;
        }
        self.transport().abort();
    }
}

/// A request whose outcome a caller awaits.
struct CancelOnDrop<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    transport: &'a McpTransport,
    in_flight: &'a InFlight,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.transport.forget(self.in_flight);
        if let Some(handle) = self.handle.take() {
            // One poll queues the notification. Its delivery is not awaited.
            let _ = handle.cancel(Some("the caller no longer waits".to_owned())).now_or_never();
        }
    }
}

/// The client offers no capabilities to servers. [`super::messages`] makes all their requests
/// unknown ones, so that `rmcp` refuses them.
struct NoCapabilities;

impl ClientHandler for NoCapabilities {
    fn get_info(&self) -> ClientConfig {
        // Later versions have neither a handshake nor sessions.
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("smartspace", env!("CARGO_PKG_VERSION")),
        )
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// Decides when to resume a broken answer.
#[derive(Debug)]
struct ResumePolicy;

impl SseRetryPolicy for ResumePolicy {
    fn retry(&self, tried: usize) -> Option<Duration> {
        (tried < RESUME_TRIES).then(|| RESUME_AFTER * 2_u32.pow(tried as u32))
    }
}
