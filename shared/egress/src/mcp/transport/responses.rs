//! Reads the responses to posted requests.

use http::{StatusCode, header};
use reqwest::Response;
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use smartspace_domain::json;

use crate::mcp::{
    in_flight::Failure,
    messages,
    transport::{LONGEST_ANSWER, McpTransport, Pending, ServerNotice, requests::SESSION, stream},
};

/// Size limit for the body of a refusal, in bytes.
const LONGEST_REFUSAL: usize = 16 * 1024;
/// Limit for the text of a refusal, in characters.
const LONGEST_REFUSAL_TEXT: usize = 300;
/// Limit for the id of a session, in bytes.
const LONGEST_SESSION: usize = 1_024;

impl McpTransport {
    /// Reads the response to a request.
    pub(super) async fn answer(
        &self,
        response: Response,
        pending: &Pending,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        if !status.is_success() {
            return self.refused(response, pending, in_session).await;
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Err(self.unknown("accepted the request without an answer"));
        }
        let session = self.session_of(&response)?;
        if is_of_type(&response, "text/event-stream") {
            let events = stream::events(response, self.clone(), Some(pending.clone()));
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if !is_of_type(&response, "application/json") {
            return Err(self.unknown("answered with neither JSON nor an event stream"));
        }
        let body = self.body(response, LONGEST_ANSWER).await?;
        let notice = self.read_message(&body, Some(pending))?;
        let answer = notice.message.filter(|_| notice.is_awaited_answer);
        match answer.map(serde_json::from_value) {
            Some(Ok(message)) => Ok(StreamableHttpPostResponse::Json(message, session)),
            _ => Err(self.unknown("sent a message that does not answer the request")),
        }
    }

    /// Reads a response with an error status. Its body may still be a JSON-RPC error, which is an
    /// answer.
    async fn refused(
        &self,
        response: Response,
        pending: &Pending,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        let needs_no_body = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            || (status == StatusCode::NOT_FOUND && in_session);
        if needs_no_body || status.is_redirection() {
            return Err(self.refusal(status, in_session, ""));
        }
        let is_json = is_of_type(&response, "application/json");
        // An incomplete body is dropped: it could end in the middle of a secret, which would not be
        // found.
        let body = self.body(response, LONGEST_REFUSAL).await.unwrap_or_default();
        if is_json
            && let Ok(ServerNotice { message: Some(message), is_awaited_answer: true }) =
                self.read_message(&body, Some(pending))
            && let Ok(message) = serde_json::from_value(message)
        {
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
        let text = match json::parse(&body) {
            // A secret with escaped characters can be found only in the parsed JSON.
            Ok(mut json) => {
                self.secrets().redact_json(&mut json);
                json.to_string()
            }
            Err(_) => self.secrets().redact(&String::from_utf8_lossy(&body)).into_owned(),
        };
        let is_page = text.trim_start().starts_with('<');
        Err(self.refusal(status, in_session, if is_page { "" } else { &text }))
    }

    /// The failure for an error status. `text` must be redacted already.
    pub(super) fn refusal(&self, status: StatusCode, in_session: bool, text: &str) -> Failure {
        let text = messages::line(text, LONGEST_REFUSAL_TEXT);
        let details = if text.is_empty() { String::new() } else { format!(": {text}") };
        let status = status.as_u16();
        match status {
            401 | 403 => Failure::NotProcessed(self.sentence(format!(
                "requires authorization ({status}): set it in the headers of the server"
            ))),
            404 if in_session => Failure::Expired,
            300..=399 => {
                Failure::Refused(self.sentence(format!(
                    "answered with a redirect ({status}), which is not followed"
                )))
            }
            // A proxy may have given up while the server still works on the request.
            408 | 500.. => self.unknown(format!("answered {status}{details}")),
            _ => Failure::Refused(self.sentence(format!("answered {status}{details}"))),
        }
    }

    async fn body(&self, mut response: Response, most: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(piece) =
            response.chunk().await.map_err(|_| self.unknown("broke off its answer"))?
        {
            self.count_received(piece.len())?;
            if body.len() + piece.len() > most {
                return Err(self.unknown(format!("answered with more than {} KiB", most / 1024)));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    fn session_of(&self, response: &Response) -> Result<Option<String>, Failure> {
        let Some(session) = response.headers().get(SESSION) else { return Ok(None) };
        // `rmcp` logs the session id, so it must not contain a secret.
        let usable = session.to_str().ok().filter(|session| {
            session.len() <= LONGEST_SESSION && self.secrets().redact(session) == *session
        });
        usable
            .map(|session| Some(session.to_owned()))
            .ok_or_else(|| self.unknown("sent a session id that can't be used"))
    }
}

pub(super) fn is_of_type(response: &Response, media_type: &str) -> bool {
    let given = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|given| given.to_str().ok())
        .unwrap_or_default();
    given.split(';').next().is_some_and(|given| given.trim().eq_ignore_ascii_case(media_type))
}
