//! Calls the tools of one server for one run.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::Value;
use smartspace_domain::{ids::CallId, tools::McpServer};
use tokio::{
    sync::{Mutex, watch},
    time::{sleep, timeout},
};

use crate::mcp::{
    ListedTool, McpResponse, answers,
    connection::Connection,
    in_flight::{Failure, InFlight, RequestState},
    input_required::{self, InputAnswers},
    messages, param_headers,
    revisions::{Lifecycle, Revisions},
    transport::CLOSE_LIMIT,
};
use crate::{Egress, SendError, TraceContext};

/// How often a call is repeated at once, because the server asks for that without a question.
const MOST_ROUNDS: u32 = 5;
/// The wait before the first of these repetitions. It doubles with each one, up to a tenth of the
/// call's limit: so a server that never ends the call has had all repetitions before the limit.
const ROUND_AFTER: Duration = Duration::from_millis(100);

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct McpCall<'a> {
    pub tool: &'a ListedTool,
    pub input: &'a Value,
    pub id: CallId,
    /// The answers to the questions with which the server has ended the call before.
    pub answers: Option<&'a InputAnswers>,
    /// How long the server may take.
    pub limit: Duration,
    /// Receives the latest progress message of the server: redacted, on one line, at most 500
    /// characters.
    pub progress: &'a watch::Sender<String>,
}

/// A session with a server for one run. Dropping it aborts all calls without notifying the server.
pub struct McpSession {
    egress: Egress,
    revisions: Arc<Revisions>,
    server: McpServer,
    trace: TraceContext,
    current: Mutex<Option<Arc<Connection>>>,
}

impl McpSession {
    pub(super) fn new(
        egress: Egress,
        revisions: Arc<Revisions>,
        server: McpServer,
        trace: TraceContext,
    ) -> Self {
        Self { egress, revisions, server, trace, current: Mutex::default() }
    }

    /// Calls a tool within the limit of the call. Connects first if it is not connected. Sends the
    /// call only once, except if the server reports that the session has expired: then it did not
    /// process the call, which is sent again in a new session.
    ///
    /// # Errors
    /// [`SendError::Unknown`] if the call may have taken effect: it was sent, but has no readable
    /// answer. A refusal by the server is an answer.
    pub async fn call(&self, call: &McpCall<'_>) -> Result<McpResponse, SendError> {
        let server = &self.server.name;
        let tool = &call.tool.name;
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
        let params = params_of(call).map_err(SendError::NotSent)?;
        let headers = param_headers::of_call(&call.tool.headers, call.input);
        let round = call.answers.map_or(0, |answers| answers.round);
        let in_flight = InFlight::of_call(call.id, round, headers, call.progress.clone());
        let seconds = call.limit.as_secs_f64();
        let late = format!("the server {server} did not answer within {seconds} s");
        let repetitions = AtomicU32::new(0);
        let sending = self.send_until_answered(params, &in_flight, &repetitions, call.limit);
        let sent = timeout(call.limit, sending)
            .await
            .unwrap_or_else(|_| Err(not_answered(&in_flight.take(), late)));
        match (sent, repetitions.into_inner()) {
            // Only the repetition was not sent. The server has had the call before.
            (Err(SendError::NotSent(cause) | SendError::Refused(cause)), rounds @ 1..) => {
                tracing::warn!(server, cause, "a call was not repeated");
                Err(unknown(no_answer(server, rounds)))
            }
            (sent, _) => sent,
        }
    }

    /// Sends a call, and repeats it as long as the server only wants its state back. Counts the
    /// `repetitions` for which the server has asked.
    async fn send_until_answered(
        &self,
        mut params: CallToolRequestParams,
        in_flight: &InFlight,
        repetitions: &AtomicU32,
        limit: Duration,
    ) -> Result<McpResponse, SendError> {
        for round in 0..=MOST_ROUNDS {
            match self.send(&params, in_flight).await? {
                McpResponse::NeedsInput(required) if required.requests.is_empty() => {
                    params.input_responses = None;
                    params.request_state = required.state;
                }
                response => return Ok(response),
            }
            if round < MOST_ROUNDS {
                repetitions.store(round + 1, Ordering::Relaxed);
                sleep((ROUND_AFTER * 2_u32.pow(round)).min(limit / 10)).await;
            }
        }
        Ok(McpResponse::Answer(answers::of_error(no_answer(&self.server.name, MOST_ROUNDS))))
    }

    async fn send(
        &self,
        params: &CallToolRequestParams,
        in_flight: &InFlight,
    ) -> Result<McpResponse, SendError> {
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
                RequestState::Answered(Ok(result)) => Ok(Self::response(&result, &connection)),
                RequestState::Answered(Err(error)) => {
                    // The server may speak another revision now.
                    self.revisions.forget(&self.server);
                    Ok(McpResponse::Answer(answers::of_error(messages::error_text(&error))))
                }
                RequestState::Failed(Failure::Refused(text)) => {
                    Ok(McpResponse::Answer(answers::of_error(text)))
                }
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

    fn response(result: &Value, connection: &Connection) -> McpResponse {
        let transport = connection.transport();
        // Earlier revisions have no other results.
        if connection.lifecycle() == Lifecycle::Stateless {
            match input_required::of_result(result) {
                Ok(None) => {}
                Ok(Some(required)) => return McpResponse::NeedsInput(required),
                Err(predicate) => {
                    let text = transport.sentence(predicate);
                    return McpResponse::Answer(answers::of_error(text));
                }
            }
        }
        McpResponse::Answer(answers::of_result(result, transport.secrets()))
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
        let opened = Connection::open(
            &self.egress,
            &self.revisions,
            &self.server,
            Some(self.trace.clone()),
            usize::MAX,
        )
        .await;
        let connection = Arc::new(opened.map_err(SendError::NotSent)?);
        Ok(Arc::clone(current.insert(connection)))
    }

    /// Makes the next call connect again. Other calls may still wait for answers in this session.
    async fn leave(&self, connection: &Arc<Connection>) {
        // The server may speak another revision now.
        self.revisions.forget(&self.server);
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

fn params_of(call: &McpCall<'_>) -> Result<CallToolRequestParams, String> {
    let arguments = match call.input {
        Value::Object(fields) => fields.clone(),
        Value::Null => serde_json::Map::new(),
        _ => return Err("expected a JSON object as input".into()),
    };
    let name = call.tool.name.clone();
    let mut params = CallToolRequestParams::new(name).with_arguments(arguments);
    if let Some(InputAnswers { answers, state, .. }) = call.answers {
        params.input_responses = Some(answers.clone()).filter(|answers| !answers.is_empty());
        params.request_state.clone_from(state);
    }
    Ok(params)
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

fn no_answer(server: &str, repetitions: u32) -> String {
    let plural = if repetitions == 1 { "" } else { "s" };
    format!("the server {server} did not answer after {repetitions} repetition{plural}")
}

fn unknown(text: String) -> SendError {
    SendError::Unknown(format!("{text}; whether the call took effect is not known"))
}
