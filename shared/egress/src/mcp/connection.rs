//! One session with a server, from its handshake to its end.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use reqwest::Url;
use rmcp::{
    ClientHandler, ServiceExt,
    model::{ClientCapabilities, ClientConfig, ClientRequest, GetExtensions, Implementation, ProtocolVersion},
    service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService},
    transport::{
        StreamableHttpClientTransport, common::client_side_sse::SseRetryPolicy, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use smartspace_domain::tools::McpServer;

use super::{
    headers,
    slip::{Failure, Fate, Slip},
    wire::{Ends, Wire},
};
use crate::{Egress, Trail};

/// For the end of a session.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);
/// Before a broken answer is asked for again, and how often that is tried in a row.
const RESUME_AFTER: Duration = Duration::from_millis(500);
const RESUME_TRIES: usize = 3;

/// A session. Dropping it ends all that it does.
pub(super) struct Connection {
    service: Mutex<Option<RunningService<RoleClient, Refusing>>>,
    peer: Peer<RoleClient>,
    wire: Hold,
}

/// Cuts the wire when it is dropped: no task of `rmcp` can wait for the server then.
struct Hold(Wire);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.cut();
    }
}

impl Connection {
    /// Connects. At most `most` bytes are read of the server, all answers together.
    ///
    /// # Errors
    /// Why there is no session, in a sentence.
    pub(super) async fn open(egress: &Egress, server: &McpServer, trail: Option<Trail>, most: usize) -> Result<Self, String> {
        let url = Url::parse(&server.url).map_err(|_| format!("the address of the server {} is none", server.name))?;
        let secrets = egress.secrets().await.map_err(|error| error.to_string())?;
        let headers = headers::of(server, url.host_str().unwrap_or_default(), &secrets)?;
        let ends = Ends { egress: egress.clone(), server: server.name.clone(), url, headers, trail, secrets, most };
        let wire = Hold(Wire::new(ends));
        // The address and the headers stay with the wire: `rmcp` logs what it knows.
        let mut config = StreamableHttpClientTransportConfig::with_uri("").reinit_on_expired_session(false);
        config.retry_config = Arc::new(Resume);
        let transport = StreamableHttpClientTransport::with_client(wire.0.clone(), config);
        match Refusing.serve(transport).await {
            Ok(service) => Ok(Self { peer: service.peer().clone(), service: Mutex::new(Some(service)), wire }),
            Err(_) => Err(match wire.0.handshake().take() {
                Fate::Failed(Failure::Untouched(text) | Failure::Refused(text) | Failure::Unclear(text)) => text,
                _ => wire.0.sentence("broke off the handshake"),
            }),
        }
    }

    /// Whether it ended by itself.
    pub(super) fn is_over(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// What keeps secrets out of what the server says.
    pub(super) fn wire(&self) -> &Wire {
        &self.wire.0
    }

    /// Sends a request once, and waits until it is clear what becomes of it. Where the wait is given up, the server is told so.
    pub(super) async fn ask(&self, mut request: ClientRequest, slip: &Slip) {
        request.extensions_mut().insert(slip.clone());
        let Ok(handle) = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await else { return };
        let mut waiting = Waiting { handle: Some(handle), wire: self.wire(), slip };
        if let Some(handle) = &mut waiting.handle {
            // What came of it stands on the slip.
            let _ = (&mut handle.rx).await;
        }
        waiting.handle = None;
    }

    /// Ends the session, also there. At most a second.
    pub(super) async fn close(&self) {
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut service) = service {
            self.wire().allow_farewell();
            // What went wrong with it is of no use to anyone.
            let _ = service.close_with_timeout(FAREWELL).await;
        }
        self.wire().cut();
    }
}

/// A request that is waited for.
struct Waiting<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    wire: &'a Wire,
    slip: &'a Slip,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.wire.forget(self.slip);
        if let Some(handle) = self.handle.take() {
            // It is queued at once; whether it arrives, nobody waits for.
            let _ = handle.cancel(Some("nobody waits for it any more".to_owned())).now_or_never();
        }
    }
}

/// Has nothing to offer to a server; whatever it asks for comes as something unknown, see [`super::messages`].
struct Refusing;

impl ClientHandler for Refusing {
    fn get_info(&self) -> ClientConfig {
        // A later version has no handshake, and no sessions.
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("smartspace", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// When a broken answer is asked for again.
#[derive(Debug)]
struct Resume;

impl SseRetryPolicy for Resume {
    fn retry(&self, tried: usize) -> Option<Duration> {
        (tried < RESUME_TRIES).then(|| RESUME_AFTER * 2_u32.pow(tried as u32))
    }
}
