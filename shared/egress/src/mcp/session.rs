//! Calls the tools of one server for one run.

use std::{fmt, sync::Arc, time::Duration};

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::Value;
use smartspace_domain::{ids::CallId, tools::McpServer};
use tokio::{
    sync::{Mutex, watch},
    time::timeout,
};

use crate::mcp::{
    McpAnswer, answers,
    connection::Connection,
    in_flight::{Failure, InFlight, RequestState},
    messages,
    transport::CLOSE_LIMIT,
};
use crate::{Egress, SendError, TraceContext};

/// A session with a server for one run. Dropping it aborts all calls without notifying the server.
pub struct McpSession {
    egress: Egress,
    server: McpServer,
    trace: TraceContext,
    current: Mutex<Option<Arc<Connection>>>,
}

impl McpSession {
    pub(super) fn new(egress: Egress, server: McpServer, trace: TraceContext) -> Self {
        Self { egress, server, trace, current: Mutex::default() }
    }

    /// Calls a tool within `limit`. Opens the session first if there is none. Sends the call only
    /// once, except if the server reports that the session has expired: then it did not process the
    /// call, which is sent again in a new session.
    ///
    /// `progress` receives the latest progress message of the server: redacted, on one line, at
    /// most 500 characters.
    ///
    /// # Errors
    /// [`SendError::Unknown`] if the call may have taken effect: it was sent, but has no readable
    /// answer. A refusal by the server is an answer.
    pub async fn call(
        &self,
        tool: &str,
        input: &Value,
        call: CallId,
        limit: Duration,
        progress: &watch::Sender<String>,
    ) -> Result<McpAnswer, SendError> {
        let server = &self.server.name;
        if self
            .server
            .allowed_tools
            .as_ref()
            .is_some_and(|allowed| !allowed.iter().any(|name| name == tool))
        {
            return Err(SendError::NotSent(format!(
                "the tool {tool} of the server {server} is not allowed here"
            )));
        }
        let arguments = match input {
            Value::Object(fields) => fields.clone(),
            Value::Null => serde_json::Map::new(),
            _ => return Err(SendError::NotSent("expected a JSON object as input".into())),
        };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let in_flight = InFlight::of_call(call, progress.clone());
        let late = format!("the server {server} did not answer within {} s", limit.as_secs_f64());
        timeout(limit, self.send(&params, &in_flight))
            .await
            .unwrap_or_else(|_| Err(not_answered(&in_flight.take(), late)))
    }

    async fn send(
        &self,
        params: &CallToolRequestParams,
        in_flight: &InFlight,
    ) -> Result<McpAnswer, SendError> {
        let mut is_second_try = false;
        loop {
            let connection = self.connected().await?;
            connection
                .ask(
                    ClientRequest::CallToolRequest(CallToolRequest::new(params.clone())),
                    in_flight,
                )
                .await;
            let state = in_flight.take();
            if !matches!(
                state,
                RequestState::Answered(_) | RequestState::Failed(Failure::NotProcessed(_))
            ) {
                self.leave(&connection).await;
            }
            return match state {
                RequestState::Answered(Ok(result)) => {
                    Ok(answers::of_result(&result, connection.transport().secrets()))
                }
                RequestState::Answered(Err(error)) => {
                    Ok(answers::of_error(messages::error_text(&error)))
                }
                RequestState::Failed(Failure::Refused(text)) => Ok(answers::of_error(text)),
                RequestState::Failed(Failure::NotProcessed(text)) => Err(SendError::NotSent(text)),
                RequestState::Failed(Failure::Unknown(text)) => Err(unknown(text)),
                RequestState::Failed(Failure::Expired) | RequestState::Unsent if !is_second_try => {
                    is_second_try = true;
                    continue;
                }
                RequestState::Failed(Failure::Expired) => Err(SendError::NotSent(
                    connection.transport().sentence("does not keep its sessions"),
                )),
                state @ (RequestState::Sent | RequestState::Unsent) => {
                    let text = connection.transport().sentence("broke off the connection");
                    Err(not_answered(&state, text))
                }
            };
        }
    }

    /// Ends the session here and on the server. Takes one second at most and ignores errors. A
    /// later call opens a new session.
    pub async fn close(&self) {
        let closing = async {
            let current = self.current.lock().await.take();
            if let Some(connection) = current {
                connection.close().await;
            }
        };
        let _ = timeout(CLOSE_LIMIT, closing).await;
    }

    async fn connected(&self) -> Result<Arc<Connection>, SendError> {
        let mut current = self.current.lock().await;
        if let Some(connection) = current.as_ref().filter(|connection| !connection.has_ended()) {
            return Ok(Arc::clone(connection));
        }
        let opened =
            Connection::open(&self.egress, &self.server, Some(self.trace.clone()), usize::MAX)
                .await;
        let connection = Arc::new(opened.map_err(SendError::NotSent)?);
        Ok(Arc::clone(current.insert(connection)))
    }

    /// Makes the next call open a new session. Other calls may still wait for answers in this one.
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

fn not_answered(state: &RequestState, text: String) -> SendError {
    match state {
        RequestState::Unsent
        | RequestState::Failed(Failure::NotProcessed(_) | Failure::Expired) => {
            SendError::NotSent(text)
        }
        _ => unknown(text),
    }
}

fn unknown(text: String) -> SendError {
    SendError::Unknown(format!("{text}; whether the call took effect is not known"))
}
