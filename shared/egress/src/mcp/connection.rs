//! One connection with a server: a session with its handshake and its end, or requests without a
//! session.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use reqwest::Url;
use rmcp::{
    ClientHandler, ServiceExt,
    model::{
        ClientCapabilities, ClientConfig, ClientRequest, ElicitationCapability,
        FormElicitationCapability, GetExtensions, Implementation, ProtocolVersion,
        UrlElicitationCapability,
    },
    service::{
        ClientLifecycleMode, ClientServiceExt, Peer, PeerRequestOptions, RequestHandle, RoleClient,
        RunningService,
    },
};
use smartspace_domain::tools::McpServer;
use tokio::time::timeout;

use crate::mcp::{
    headers,
    in_flight::{Failure, InFlight, RequestState},
    messages,
    revisions::{self, DEFAULT_TTL, Lifecycle, Revisions},
    transport::{CLOSE_LIMIT, McpTransport, TransportConfig},
};
use crate::{Egress, TraceContext};

/// How long a server may take to name its revisions, before it is taken for an early one.
const DISCOVER_LIMIT: Duration = Duration::from_secs(3);

/// A session. Dropping it aborts all its work.
pub(super) struct Connection {
    service: Mutex<Option<RunningService<RoleClient, Client>>>,
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

/// Why a server can't be spoken to without a session.
enum NotStateless {
    /// It speaks an earlier revision, or does not understand the question.
    Earlier,
    /// Why there is no connection, in a sentence.
    Failed(String),
}

impl Connection {
    /// Connects. `most_bytes` limits the size of all responses of the connection together. A server
    /// whose revision is not known is first asked with `server/discover`, which needs no session.
    ///
    /// # Errors
    /// Why there is no connection, in a sentence.
    pub(super) async fn open(
        egress: &Egress,
        revisions: &Revisions,
        server: &McpServer,
        trace: Option<TraceContext>,
        most_bytes: usize,
    ) -> Result<Self, String> {
        let url = Url::parse(&server.url)
            .map_err(|_| format!("the address of the server {} is invalid", server.name))?;
        let secrets = egress.secrets().await.map_err(|error| error.to_string())?;
        let headers = headers::of(server, url.host_str().unwrap_or_default(), &secrets)?;
        let known = revisions.of(server);
        let config = TransportConfig {
            egress: egress.clone(),
            server: server.name.clone(),
            url,
            headers,
            trace,
            secrets,
            most_bytes,
            lifecycle: Lifecycle::Stateless,
            is_discovered: known == Some(Lifecycle::Stateless),
        };
        if known != Some(Lifecycle::Session) {
            match Box::pin(Self::without_session(config.clone())).await {
                Ok((connection, ttl)) => {
                    if let Some(ttl) = ttl {
                        revisions.remember(server, Lifecycle::Stateless, ttl);
                    }
                    return Ok(connection);
                }
                Err(NotStateless::Failed(text)) => return Err(text),
                Err(NotStateless::Earlier) => {}
            }
        }
        let opened = Box::pin(Self::with_session(config)).await;
        match &opened {
            Ok(_) => revisions.remember(server, Lifecycle::Session, DEFAULT_TTL),
            Err(_) => revisions.forget(server),
        }
        opened
    }

    /// Connects to a server of revision 2026-07-28. Returns for how long its answer is valid, if it
    /// was asked.
    async fn without_session(
        config: TransportConfig,
    ) -> Result<(Self, Option<Duration>), NotStateless> {
        let was_asked = !config.is_discovered;
        let transport = AbortOnDrop(McpTransport::new(config));
        let mode = ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        };
        let client = Client { lifecycle: Lifecycle::Stateless };
        let serving = client.serve_with_lifecycle(transport.0.client(), mode);
        // An early server may not answer what it does not know.
        let Ok(served) = timeout(DISCOVER_LIMIT, serving).await else {
            return Err(NotStateless::Earlier);
        };
        let state = transport.0.handshake().take();
        if let Ok(service) = served {
            let ttl = match &state {
                RequestState::Answered(Ok(result)) => revisions::ttl_of(result),
                _ => None,
            };
            let ttl = was_asked.then(|| ttl.unwrap_or(DEFAULT_TTL));
            return Ok((Self::of(service, transport), ttl));
        }
        Err(match state {
            RequestState::Answered(Err(error)) if messages::is_of_stateless(&error) => {
                let text = messages::error_text(&error);
                NotStateless::Failed(transport.0.sentence(format!("refused a request: {text}")))
            }
            RequestState::Failed(Failure::NotProcessed(text)) => NotStateless::Failed(text),
            _ => NotStateless::Earlier,
        })
    }

    /// Begins a session with a server of an earlier revision.
    async fn with_session(config: TransportConfig) -> Result<Self, String> {
        let transport = AbortOnDrop(McpTransport::new(TransportConfig {
            lifecycle: Lifecycle::Session,
            ..config
        }));
        match (Client { lifecycle: Lifecycle::Session }).serve(transport.0.client()).await {
            Ok(service) => Ok(Self::of(service, transport)),
            Err(_) => Err(match transport.0.handshake().take() {
                RequestState::Failed(
                    Failure::NotProcessed(text) | Failure::Refused(text) | Failure::Unknown(text),
                ) => text,
                _ => transport.0.sentence("broke off the handshake"),
            }),
        }
    }

    fn of(service: RunningService<RoleClient, Client>, transport: AbortOnDrop) -> Self {
        let peer = service.peer().clone();
        Self { peer, service: Mutex::new(Some(service)), transport }
    }

    pub(super) fn lifecycle(&self) -> Lifecycle {
        self.transport().lifecycle()
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

/// What the client says of itself.
struct Client {
    lifecycle: Lifecycle,
}

impl ClientHandler for Client {
    /// It offers no capabilities to servers with a session: [`super::messages`] makes all their
    /// requests unknown ones, so that `rmcp` refuses them. Other servers may end a call with a
    /// question to the user.
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let version = match self.lifecycle {
            Lifecycle::Stateless => {
                let elicitation = ElicitationCapability::new()
                    .with_form(FormElicitationCapability::default())
                    .with_url(UrlElicitationCapability::default());
                capabilities.elicitation = Some(elicitation);
                ProtocolVersion::V_2026_07_28
            }
            Lifecycle::Session => ProtocolVersion::LATEST_WITH_INITIALIZE,
        };
        let name = Implementation::new("smartspace", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, name).with_protocol_version(version)
    }
}
