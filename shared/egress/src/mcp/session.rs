//! Calls of the tools of one server, for one run.

use std::{fmt, sync::Arc, time::Duration};

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::Value;
use smartspace_domain::{ids::CallId, tools::McpServer};
use tokio::{
    sync::{Mutex, watch},
    time::timeout,
};

use super::{
    McpAnswer, answers,
    connection::{Connection, FAREWELL},
    messages,
    slip::{Failure, Fate, Slip},
};
use crate::{Egress, SendError, Trail};

/// A session with a server for one run. Dropping it breaks off what is under way, without a word to the server.
pub struct McpSession {
    egress: Egress,
    server: McpServer,
    trail: Trail,
    current: Mutex<Option<Arc<Connection>>>,
}

impl McpSession {
    pub(super) fn new(egress: Egress, server: McpServer, trail: Trail) -> Self {
        Self { egress, server, trail, current: Mutex::default() }
    }

    /// Calls a tool, once, within `limit`; the session is opened before where there is none. Only where a server says that it knows the
    /// session no more, so that it did nothing, the call is sent again in a new one.
    ///
    /// `progress` is given what the server says meanwhile: without secrets, on one line, at most 500 characters, the latest wins.
    ///
    /// # Errors
    /// [`SendError::Unknown`] where the call may have taken effect: it was sent, and there is no answer that can be read. What a server says
    /// against a call is an answer.
    pub async fn call(
        &self,
        tool: &str,
        input: &Value,
        call: CallId,
        limit: Duration,
        progress: &watch::Sender<String>,
    ) -> Result<McpAnswer, SendError> {
        let server = &self.server.name;
        if self.server.allowed_tools.as_ref().is_some_and(|allowed| !allowed.iter().any(|name| name == tool)) {
            return Err(SendError::NotSent(format!("the tool {tool} of the server {server} is not allowed here")));
        }
        let arguments = match input {
            Value::Object(fields) => fields.clone(),
            Value::Null => serde_json::Map::new(),
            _ => return Err(SendError::NotSent("expected an object as input".into())),
        };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let slip = Slip::of_call(call, progress.clone());
        let late = format!("the server {server} did not answer within {} s", limit.as_secs_f64());
        timeout(limit, self.sent(&params, &slip)).await.unwrap_or_else(|_| Err(not_answered(&slip.take(), late)))
    }

    async fn sent(&self, params: &CallToolRequestParams, slip: &Slip) -> Result<McpAnswer, SendError> {
        let mut again = false;
        loop {
            let connection = self.connected().await?;
            connection.ask(ClientRequest::CallToolRequest(CallToolRequest::new(params.clone())), slip).await;
            let fate = slip.take();
            if !matches!(fate, Fate::Answered(_) | Fate::Failed(Failure::Untouched(_))) {
                self.leave(&connection).await;
            }
            return match fate {
                Fate::Answered(Ok(result)) => Ok(answers::of_result(&result, connection.wire().secrets())),
                Fate::Answered(Err(error)) => Ok(answers::of_error(messages::error_text(&error))),
                Fate::Failed(Failure::Refused(text)) => Ok(answers::of_error(text)),
                Fate::Failed(Failure::Untouched(text)) => Err(SendError::NotSent(text)),
                Fate::Failed(Failure::Unclear(text)) => Err(unknown(text)),
                Fate::Failed(Failure::Expired) | Fate::Unsent if !again => {
                    again = true;
                    continue;
                }
                Fate::Failed(Failure::Expired) => Err(SendError::NotSent(connection.wire().sentence("does not keep its sessions"))),
                fate @ (Fate::Sent | Fate::Unsent) => Err(not_answered(&fate, connection.wire().sentence("broke off the connection"))),
            };
        }
    }

    /// Ends the session, also at the server. At most a second; what goes wrong is passed over. A call after it opens a new one.
    pub async fn close(&self) {
        let closing = async {
            let current = self.current.lock().await.take();
            if let Some(connection) = current {
                connection.close().await;
            }
        };
        let _ = timeout(FAREWELL, closing).await;
    }

    async fn connected(&self) -> Result<Arc<Connection>, SendError> {
        let mut current = self.current.lock().await;
        if let Some(connection) = current.as_ref().filter(|connection| !connection.is_over()) {
            return Ok(Arc::clone(connection));
        }
        let opened = Connection::open(&self.egress, &self.server, Some(self.trail.clone()), usize::MAX).await;
        let connection = Arc::new(opened.map_err(SendError::NotSent)?);
        Ok(Arc::clone(current.insert(connection)))
    }

    /// The next call opens a new session. Other calls may still wait for their answers in this one.
    async fn leave(&self, connection: &Arc<Connection>) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            *current = None;
        }
    }
}

impl fmt::Debug for McpSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSession").field("server", &self.server.name).finish_non_exhaustive()
    }
}

fn not_answered(fate: &Fate, text: String) -> SendError {
    match fate {
        Fate::Unsent | Fate::Failed(Failure::Untouched(_) | Failure::Expired) => SendError::NotSent(text),
        _ => unknown(text),
    }
}

fn unknown(text: String) -> SendError {
    SendError::Unknown(format!("{text}; whether the call took effect is not known"))
}
